class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 197, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -7.27228345e-05
	std = 0.999729522
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [3072, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.21819294e-06
	std = 0.0199963571
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0137667346
	std = 0.979477392
	data = None
