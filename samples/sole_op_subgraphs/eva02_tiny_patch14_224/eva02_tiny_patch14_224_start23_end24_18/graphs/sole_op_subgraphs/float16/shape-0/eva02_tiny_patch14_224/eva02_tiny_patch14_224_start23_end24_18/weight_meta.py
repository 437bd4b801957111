class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'getitem_7'
	shape = [2, 3, 256, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
