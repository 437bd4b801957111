class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 197, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -7.27228345e-05
	std = 0.999729522
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [32, 197, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.52551498e-05
	std = 1.0002873
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000366921226
	std = 1.00910769
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0224780993
	std = 0.997439492
	data = None
