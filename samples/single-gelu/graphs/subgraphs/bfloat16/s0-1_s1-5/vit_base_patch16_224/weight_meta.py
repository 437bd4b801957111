class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_12"
	shape = [1, 5, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00334323438
	std = 0.555813371
	data = None
