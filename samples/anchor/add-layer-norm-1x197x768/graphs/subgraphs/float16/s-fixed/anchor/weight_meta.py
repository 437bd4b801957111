class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [1, 197, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00195252186
	std = 1.00028598
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [1, 197, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.005625649
	std = 1.00065405
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0201527146
	std = 1.01357618
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.038259921
	std = 0.978960614
	data = None
