class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "windows_6"
	shape = [8, 63, 63, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.03095758e-05
	std = 0.00526566126
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "hidden_states_8"
	shape = [8, 3249, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0006596658
	std = 1.00108435
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "L_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_after_parameters_weight_"
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "L_self_modules_encoder_modules_layers_modules_0_modules_blocks_modules_1_modules_layernorm_after_parameters_bias_"
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
