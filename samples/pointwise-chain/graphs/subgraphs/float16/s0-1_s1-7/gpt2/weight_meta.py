class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_5"
	shape = [1, 7, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000690232935
	std = 0.55066525
	data = None
