class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -7.34338606e-05
	std = 0.999730552
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [32, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 8.39161413e-05
	std = 1.00028436
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000413189332
	std = 1.00934537
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0225533197
	std = 0.997310779
	data = None
