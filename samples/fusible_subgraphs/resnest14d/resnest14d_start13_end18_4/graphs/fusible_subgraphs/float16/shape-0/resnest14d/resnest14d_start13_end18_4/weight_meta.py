class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'out_1'
	shape = [2, 64, 40, 40]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_conv_parameters_weight_'
	shape = [128, 32, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = -9.95672715e-6
	std = 0.0415416476
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_bn0_buffers_running_mean_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_bn0_buffers_running_var_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_bn0_parameters_weight_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_layer1_modules_0_modules_conv2_modules_bn0_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
