class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_grn_parameters_bias_'
	shape = [160]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_grn_parameters_weight_'
	shape = [160]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'x_8'
	shape = [2, 160, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'x_n'
	shape = [2, 160, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = 0.0
	data = None
