class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_kwargs_input_values_'
	shape = [2, 8000]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0086625938
	std = 1.00622668
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_conv_parameters_weight_'
	shape = [512, 1, 10]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00451819927
	std = 0.449571688
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_weight_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_feature_extractor_modules_conv_layers_modules_0_modules_layer_norm_parameters_bias_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
