class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 16, 224, 224]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000256619877
	std = 1.00047336
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_conv_proj_parameters_weight_'
	shape = [96, 3, 3, 7, 7]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000139013059
	std = 0.0274305127
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_conv_proj_parameters_bias_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000688730622
	std = 0.0267298746
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_pos_encoding_parameters_class_token_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000820662975
	std = 0.0209997667
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_pos_encoding_parameters_temporal_pos_'
	shape = [8, 96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000293888279
	std = 0.01946419
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_pos_encoding_parameters_spatial_pos_'
	shape = [3136, 96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.60186564e-6
	std = 0.0199946092
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_pos_encoding_parameters_class_pos_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00100632754
	std = 0.021026943
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_weight_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_bias_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
