class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hashed'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_0_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.11346223e-6
	std = 0.0200011583
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'hashed_1'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_1_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.11519618e-5
	std = 0.020030014
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'hashed_2'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_2_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.69228687e-6
	std = 0.0200116116
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'hashed_3'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_3_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.9291153e-5
	std = 0.0200167873
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'hashed_4'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_4_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.52912829e-6
	std = 0.02000257
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'hashed_5'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_5_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.16567588e-6
	std = 0.0199898757
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'hashed_6'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_6_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = -7.78663134e-6
	std = 0.0199988435
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'hashed_7'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_char_embeddings_modules_HashBucketCodepointEmbedder_7_parameters_weight_'
	shape = [16384, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.91891784e-6
	std = 0.0199915468
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'token_type_ids'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_char_embeddings_modules_token_type_embeddings_parameters_weight_'
	shape = [16, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -7.69994878e-5
	std = 0.0199044627
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'position_ids'
	shape = [1, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_char_embeddings_modules_char_position_embeddings_parameters_weight_'
	shape = [16384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.25390183e-6
	std = 0.019998183
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_char_embeddings_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_char_embeddings_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'attention_mask'
	shape = [2, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	min_val = 1.0
	max_val = 1.0
	data = None
