class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'batch_norm'
	shape = [1, 64, 147]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stem_modules_conv_parameters_weight_'
	shape = [64, 3, 7, 7]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000419279546
	std = 0.0814348387
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_x_'
	shape = [2, 3, 160, 160]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00114109127
	std = 0.999600586
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_stem_modules_conv_parameters_bias_'
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
