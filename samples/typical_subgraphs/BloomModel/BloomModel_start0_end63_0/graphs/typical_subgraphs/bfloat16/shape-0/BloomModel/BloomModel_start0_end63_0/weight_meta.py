class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_input_ids_'
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
	original_name = 'L_self_modules_word_embeddings_parameters_weight_'
	shape = [1000, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -2.76087173e-6
	std = 0.0200132277
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_word_embeddings_layernorm_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_word_embeddings_layernorm_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_h_modules_0_modules_input_layernorm_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_h_modules_0_modules_input_layernorm_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_h_modules_0_modules_self_attention_modules_query_key_value_parameters_weight_'
	shape = [3072, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 6.82002769e-6
	std = 0.0200063533
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_h_modules_0_modules_self_attention_modules_query_key_value_parameters_bias_'
	shape = [3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_h_modules_0_modules_self_attention_modules_dense_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.47703676e-5
	std = 0.02000211
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_h_modules_0_modules_self_attention_modules_dense_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_h_modules_0_modules_post_attention_layernorm_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_h_modules_0_modules_post_attention_layernorm_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_h_modules_0_modules_mlp_modules_dense_h_to_4h_parameters_weight_'
	shape = [4096, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -3.18359318e-6
	std = 0.0200010247
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_h_modules_0_modules_mlp_modules_dense_h_to_4h_parameters_bias_'
	shape = [4096]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_h_modules_0_modules_mlp_modules_dense_4h_to_h_parameters_weight_'
	shape = [1024, 4096]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.95945243e-5
	std = 0.0200116205
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_h_modules_0_modules_mlp_modules_dense_4h_to_h_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
