class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_norm1'
	shape = [2, 25089, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qkv_parameters_weight_'
	shape = [288, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.46887665e-5
	std = 0.0200254008
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qkv_parameters_bias_'
	shape = [288]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
