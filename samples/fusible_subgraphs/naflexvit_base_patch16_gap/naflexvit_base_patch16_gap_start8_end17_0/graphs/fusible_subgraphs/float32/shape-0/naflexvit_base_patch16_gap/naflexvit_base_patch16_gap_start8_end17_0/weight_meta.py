class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'interpolate'
	shape = [1, 768, 14, 14]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'x_1'
	shape = [2, 196, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeds_parameters_reg_token_'
	shape = [1, 4, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -3.17188689e-8
	std = 9.97670982e-7
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_weight_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
