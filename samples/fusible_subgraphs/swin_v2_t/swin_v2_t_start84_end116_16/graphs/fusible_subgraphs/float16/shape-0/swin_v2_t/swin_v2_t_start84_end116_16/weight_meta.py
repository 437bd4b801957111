class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'normalize_2'
	shape = [128, 3, 64, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'transpose_2'
	shape = [128, 3, 32, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_features_modules_1_modules_1_modules_attn_parameters_logit_scale_'
	shape = [3, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.30258512
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'relative_position_bias_7'
	shape = [1, 3, 64, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.0
	std = 2.0
	min_val = 0.0
	max_val = 16.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'x_14'
	shape = [128, 64, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
