class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [64, 384, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0017816313
	std = 0.0934874836
	data = None
