class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_256'
	shape = [2, 1, 1, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_head_modules_fc_modules_fc1_parameters_weight_'
	shape = [2048, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 8.56245834e-6
	std = 0.0199939568
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_head_modules_fc_modules_fc1_parameters_bias_'
	shape = [2048]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_head_modules_fc_modules_norm_parameters_weight_'
	shape = [2048]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_head_modules_fc_modules_norm_parameters_bias_'
	shape = [2048]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
