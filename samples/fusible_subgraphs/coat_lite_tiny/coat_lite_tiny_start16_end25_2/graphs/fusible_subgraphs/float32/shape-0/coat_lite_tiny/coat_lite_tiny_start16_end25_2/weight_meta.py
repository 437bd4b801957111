class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_7'
	shape = [2, 3137, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_serial_blocks1_modules_0_modules_factoratt_crpe_modules_qkv_parameters_weight_'
	shape = [192, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.20090981e-5
	std = 0.0200705268
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_serial_blocks1_modules_0_modules_factoratt_crpe_modules_qkv_parameters_bias_'
	shape = [192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
