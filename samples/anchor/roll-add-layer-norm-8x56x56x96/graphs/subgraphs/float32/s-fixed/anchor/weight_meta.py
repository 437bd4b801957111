class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [8, 3136, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000974653971
	std = 1.00014297
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [8, 3136, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000855354016
	std = 0.99937321
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.05211001
	std = 0.908674843
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.122283423
	std = 1.09404341
	data = None
