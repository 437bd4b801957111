class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_38'
	shape = [2, 6273, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_modules_project_modules_0_parameters_weight_'
	shape = [192, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 7.59422934e-5
	std = 0.0200764182
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_modules_project_modules_0_parameters_bias_'
	shape = [192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'x_18'
	shape = [2, 25089, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
