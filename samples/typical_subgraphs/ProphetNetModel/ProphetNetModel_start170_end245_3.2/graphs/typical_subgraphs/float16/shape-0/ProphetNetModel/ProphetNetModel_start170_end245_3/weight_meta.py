class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_19'
	shape = [2, 48, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_query_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.78819148e-5
	std = 0.0200146663
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_query_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_key_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.08007267e-5
	std = 0.0200003957
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_key_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_value_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.35222598e-5
	std = 0.0199858983
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_value_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_relative_pos_embeddings_parameters_weight_'
	shape = [512, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.85164581e-5
	std = 0.0199884254
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_relative_pos_embeddings_parameters_bias_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'main_relative_buckets'
	shape = [2, 16, 16]
	dtype = "torch.int32"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 9
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'extended_causal_mask'
	shape = [2, 16, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -65504.0
	max_val = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_weight_'
	shape = [1024, 1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.11125372e-5
	std = 0.0199885142
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_bias_'
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'predict_relative_buckets'
	shape = [2, 16, 32]
	dtype = "torch.int32"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 9
	data = None
