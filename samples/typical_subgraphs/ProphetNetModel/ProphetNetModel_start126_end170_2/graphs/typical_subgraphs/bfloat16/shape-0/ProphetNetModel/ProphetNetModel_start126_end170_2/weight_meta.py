class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'rel_positions_bucket_1'
	shape = [1, 511, 1022]
	dtype = "torch.int32"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 9
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'getitem_1'
	shape = [1, 16, 16]
	dtype = "torch.int32"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 9
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'position_ids_3'
	shape = [2, 16]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 1
	max_val = 16
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_decoder_modules_position_embeddings_parameters_weight_'
	shape = [512, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.78657575e-5
	std = 0.0199599264
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'inputs_embeds_1'
	shape = [2, 16, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'main_stream_pos_embed'
	shape = [2, 16, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_decoder_modules_ngram_embeddings_parameters_weight_'
	shape = [2, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000596503882
	std = 0.0203596583
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_decoder_modules_embeddings_layer_norm_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_decoder_modules_embeddings_layer_norm_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
