class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_15'
	shape = [2, 64, 64, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_0_modules_conv_transition_b_modules_conv_parameters_weight_'
	shape = [64, 64, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00130201327
	std = 0.17687016
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_0_modules_conv_transition_b_modules_bn_buffers_running_mean_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_stages_modules_0_modules_conv_transition_b_modules_bn_buffers_running_var_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_stages_modules_0_modules_conv_transition_b_modules_bn_parameters_weight_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_stages_modules_0_modules_conv_transition_b_modules_bn_parameters_bias_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'xs'
	shape = [2, 64, 64, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
