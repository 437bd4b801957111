class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'input_17'
	shape = [2, 64, 49, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_window_attention_modules_attn_layer_modules_1_modules_to_qkv_parameters_weight_'
	shape = [192, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000163217347
	std = 0.0199925332
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_blocks_modules_0_modules_layers_modules_0_modules_layers_modules_window_attention_modules_attn_layer_modules_1_modules_to_qkv_parameters_bias_'
	shape = [192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
