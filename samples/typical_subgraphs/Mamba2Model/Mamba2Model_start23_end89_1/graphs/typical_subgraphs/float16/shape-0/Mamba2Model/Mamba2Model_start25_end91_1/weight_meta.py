class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'value_24'
	shape = [2, 576, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'unsqueeze'
	shape = [576, 1, 4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0042072497
	std = 0.286822299
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_bias_'
	shape = [576]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_parameters_dt_bias_'
	shape = [8]
	dtype = "torch.float16"
	device = "cpu"
	mean = -4.09969315
	std = 1.53203951
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'dt'
	shape = [2, 32, 8]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_layers_modules_0_modules_mixer_parameters_D_'
	shape = [8]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'A'
	shape = [8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -3.4028234663852886e38
	max_val = -0.0
	data = None
