class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_19'
	shape = [2, 48, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_value_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 3.35222598e-5
	std = 0.0199858983
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_value_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'query_states_4'
	shape = [2, 48, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'key_states_4'
	shape = [2, 48, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
