class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_12"
	shape = [64, 197, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000293531914
	std = 0.554431163
	data = None
