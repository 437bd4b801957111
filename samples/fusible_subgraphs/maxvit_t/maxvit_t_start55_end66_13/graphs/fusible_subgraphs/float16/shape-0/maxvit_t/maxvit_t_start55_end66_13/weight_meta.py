class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'input_21'
	shape = [2, 64, 49, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_window_attention_modules_mlp_layer_modules_3_parameters_weight_'
	shape = [64, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = 9.69289384e-5
	std = 0.019702103
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_window_attention_modules_mlp_layer_modules_3_parameters_bias_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'x_3'
	shape = [2, 64, 49, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_grid_attention_modules_attn_layer_modules_0_parameters_weight_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_grid_attention_modules_attn_layer_modules_0_parameters_bias_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
