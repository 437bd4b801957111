class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'input_46'
	shape = [2, 512, 8, 4, 4]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_layer4_modules_1_modules_conv2_modules_0_parameters_weight_'
	shape = [512, 512, 1, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = -5.76639308e-6
	std = 0.0208263807
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_layer4_modules_1_modules_conv2_modules_1_buffers_running_mean_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_layer4_modules_1_modules_conv2_modules_1_buffers_running_var_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_layer4_modules_1_modules_conv2_modules_1_parameters_weight_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_layer4_modules_1_modules_conv2_modules_1_parameters_bias_'
	shape = [512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'input_42'
	shape = [2, 512, 8, 4, 4]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
