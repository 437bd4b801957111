class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_2'
	shape = [2, 32, 256]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_modules_in_proj_parameters_weight_'
	shape = [1096, 256]
	dtype = "torch.float32"
	device = "cpu"
	mean = 5.03257824e-5
	std = 0.100060533
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_parameters_A_log_'
	shape = [8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.32557537
	std = 0.657965565
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_weight_'
	shape = [576, 1, 4]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0042072497
	std = 0.286822299
	data = None
