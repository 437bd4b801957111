class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_gap_3'
	shape = [2, 32, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_fc2_parameters_weight_'
	shape = [128, 32, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000512907444
	std = 0.1246371
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_fc2_parameters_bias_'
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00164462401
	std = 0.105907747
	data = None
