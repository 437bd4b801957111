class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_12"
	shape = [1, 5, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00333971103
	std = 0.555829246
	data = None
