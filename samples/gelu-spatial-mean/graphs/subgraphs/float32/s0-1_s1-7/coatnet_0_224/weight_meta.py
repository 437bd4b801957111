class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [1, 384, 7, 7]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00107968406
	std = 0.084719785
	data = None
