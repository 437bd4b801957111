class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [1, 384, 7, 7]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00107963877
	std = 0.0847198789
	data = None
