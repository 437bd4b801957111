class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_5"
	shape = [1, 7, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000692268922
	std = 0.550661474
	data = None
