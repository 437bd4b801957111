class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 192, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00222958155
	std = 1.00201651
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stem_modules_0_parameters_weight_'
	shape = [24, 3, 4, 4]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000248841313
	std = 0.0175803143
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stem_modules_0_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_stem_modules_1_parameters_weight_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_stem_modules_1_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_conv_dw_parameters_weight_'
	shape = [24, 1, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00218483253
	std = 0.0169649554
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_conv_dw_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_norm_parameters_weight_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_norm_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [96, 24]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000132428615
	std = 0.0177517852
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [24, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0001997124
	std = 0.0178361651
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_0_parameters_gamma_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.99999997e-7
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_conv_dw_parameters_weight_'
	shape = [24, 1, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000197076421
	std = 0.0178807535
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_conv_dw_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_norm_parameters_weight_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_norm_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_mlp_modules_fc1_parameters_weight_'
	shape = [96, 24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 8.17942554e-5
	std = 0.0179964953
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_mlp_modules_fc1_parameters_bias_'
	shape = [96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_mlp_modules_fc2_parameters_weight_'
	shape = [24, 96]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.20964463e-5
	std = 0.0179387388
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_modules_mlp_modules_fc2_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_stages_modules_0_modules_blocks_modules_1_parameters_gamma_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.99999997e-7
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_stages_modules_1_modules_downsample_modules_0_parameters_weight_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_stages_modules_1_modules_downsample_modules_0_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_stages_modules_1_modules_downsample_modules_1_parameters_weight_'
	shape = [48, 24, 2, 2]
	dtype = "torch.float32"
	device = "cpu"
	mean = -7.59532432e-5
	std = 0.0179707059
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_stages_modules_1_modules_downsample_modules_1_parameters_bias_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_conv_dw_parameters_weight_'
	shape = [48, 1, 5, 5]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000558509791
	std = 0.0177970071
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_conv_dw_parameters_bias_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_norm_parameters_weight_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_norm_parameters_bias_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [192, 48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 3.44203761e-5
	std = 0.0177149593
	data = None


class Program_weight_tensor_meta_in_32:
	name = "in_32"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_33:
	name = "in_33"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [48, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000253514423
	std = 0.017632972
	data = None


class Program_weight_tensor_meta_in_34:
	name = "in_34"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_35:
	name = "in_35"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_0_parameters_gamma_'
	shape = [48]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.99999997e-7
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_36:
	name = "in_36"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_1_modules_convs_modules_0_parameters_weight_'
	shape = [24, 1, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000517283632
	std = 0.017311793
	data = None


class Program_weight_tensor_meta_in_37:
	name = "in_37"
	original_name = 'L_self_modules_stages_modules_1_modules_blocks_modules_1_modules_convs_modules_0_parameters_bias_'
	shape = [24]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
