class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'q_1'
	shape = [2, 8, 196, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = 0.0
	data = None
