class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'input_7'
	shape = [2, 24, 40, 40]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_0_modules_1_modules_f2_modules_conv_parameters_weight_'
	shape = [96, 24, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000293221241
	std = 0.02001831
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_0_modules_1_modules_f2_modules_conv_parameters_bias_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00477799003
	std = 0.120055557
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'input_8'
	shape = [2, 96, 40, 40]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
