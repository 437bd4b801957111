class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [1, 384, 7, 7]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00107917434
	std = 0.0847224215
	data = None
