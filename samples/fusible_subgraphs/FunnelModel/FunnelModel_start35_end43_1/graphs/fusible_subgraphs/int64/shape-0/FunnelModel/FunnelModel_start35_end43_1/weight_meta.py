class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'token_type_ids'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 0
	data = None
