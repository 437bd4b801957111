class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_2'
	shape = [2, 96, 40, 40]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_features_modules_1_modules_0_modules_block_modules_0_parameters_weight_'
	shape = [96, 1, 7, 7]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000299839328
	std = 0.0202254189
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_features_modules_1_modules_0_modules_block_modules_0_parameters_bias_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_features_modules_1_modules_0_modules_block_modules_2_parameters_weight_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_features_modules_1_modules_0_modules_block_modules_2_parameters_bias_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
