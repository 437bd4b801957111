class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'linear_1'
	shape = [2, 32, 48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_modules_dt_proj_parameters_weight_'
	shape = [512, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00170125696
	std = 0.14441897
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_modules_dt_proj_parameters_bias_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = -4.59987383
	std = 1.30624471
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_B_C_2'
	shape = [2, 32, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_parameters_D_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'A'
	shape = [512, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -3.4028234663852886e38
	max_val = -0.0
	data = None
