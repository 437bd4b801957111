class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_4"
	shape = [8, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -8.86957935e-05
	std = 0.576452703
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_9"
	shape = [8, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000184980004
	std = 0.0265507396
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
