class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_41'
	shape = [2, 64, 4, 144]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_transformer_modules_0_modules_norm1_parameters_weight_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_transformer_modules_0_modules_norm1_parameters_bias_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
