class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "input_11"
	shape = [1, 512, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.256655277
	std = 2.76130077
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "new_features_42"
	shape = [1, 32, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.239081701
	std = 2.05940442
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "new_features_43"
	shape = [1, 32, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.266878006
	std = 2.24248372
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "L_self_modules_features_modules_norm5_buffers_running_mean_"
	shape = [576]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = "L_self_modules_features_modules_norm5_buffers_running_var_"
	shape = [576]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = "L_self_modules_features_modules_norm5_parameters_weight_"
	shape = [576]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = "L_self_modules_features_modules_norm5_parameters_bias_"
	shape = [576]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
