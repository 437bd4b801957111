class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [64, 384, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00178163125
	std = 0.0934874899
	data = None
