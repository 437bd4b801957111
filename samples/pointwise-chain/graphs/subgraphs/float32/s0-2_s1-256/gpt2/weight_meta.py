class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_5"
	shape = [2, 256, 3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0035357547
	std = 0.553476895
	data = None
