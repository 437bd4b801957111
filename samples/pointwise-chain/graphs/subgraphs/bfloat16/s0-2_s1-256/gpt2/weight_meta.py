class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_5"
	shape = [2, 256, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00353565679
	std = 0.553477091
	data = None
