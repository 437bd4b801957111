class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_kwargs_input_ids_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 19
	max_val = 974
	data = [785, 728, 920, 263, 856, 430, 361, 35, 647, 899, 448, 505, 966, 875, 187, 19, 411, 937, 629, 295, 839, 672, 837, 618, 351, 773, 590, 633, 261, 271, 718, 687, 836, 364, 365, 794, 203, 114, 811, 484, 504, 55, 466, 935, 974, 174, 665, 189, 763, 517, 760, 238, 576, 153, 617, 570, 827, 939, 490, 396, 397, 428, 316, 407]


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_embed_tokens_parameters_weight_'
	shape = [1000, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.800476e-6
	std = 0.0200036167
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embed_positions_buffers_weights_'
	shape = [2050, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.188843155
	std = 0.681244714
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_layer_norm_parameters_weight_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_layer_norm_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_q_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -8.36770206e-6
	std = 0.0200043369
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_q_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_k_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 6.47470538e-6
	std = 0.020024586
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_k_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_v_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.23530798e-5
	std = 0.0199901101
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_v_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.47703676e-5
	std = 0.02000211
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_layers_modules_0_modules_final_layer_norm_parameters_weight_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_layers_modules_0_modules_final_layer_norm_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_layers_modules_0_modules_fc1_parameters_weight_'
	shape = [4096, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.18359318e-6
	std = 0.0200010247
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_layers_modules_0_modules_fc1_parameters_bias_'
	shape = [4096]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_layers_modules_0_modules_fc2_parameters_weight_'
	shape = [1024, 4096]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.95945243e-5
	std = 0.0200116205
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_layers_modules_0_modules_fc2_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
