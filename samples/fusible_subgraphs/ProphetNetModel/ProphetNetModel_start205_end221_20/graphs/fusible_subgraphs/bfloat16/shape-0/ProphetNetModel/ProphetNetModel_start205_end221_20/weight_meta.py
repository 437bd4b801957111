class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'main_hidden_states'
	shape = [2, 16, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_relative_pos_embeddings_parameters_weight_'
	shape = [512, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -3.85164581e-5
	std = 0.0199884254
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_decoder_modules_layers_modules_0_modules_self_attn_modules_relative_pos_embeddings_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'main_relative_buckets'
	shape = [2, 16, 16]
	dtype = "torch.int32"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 9
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'main_attn_weights'
	shape = [2, 16, 16, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'extended_causal_mask'
	shape = [2, 16, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -3.3895313892515355e38
	max_val = 0.0
	data = None
