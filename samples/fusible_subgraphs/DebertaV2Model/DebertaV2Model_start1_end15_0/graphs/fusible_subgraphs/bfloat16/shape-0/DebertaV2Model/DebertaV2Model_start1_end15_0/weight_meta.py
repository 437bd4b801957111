class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_self_modules_embeddings_buffers_position_ids_'
	shape = [1, 512]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 511
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_input_ids_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 8
	max_val = 978
	data = [174, 221, 50, 788, 345, 362, 644, 413, 296, 307, 8, 154, 448, 520, 405, 429, 137, 875, 413, 667, 219, 691, 347, 758, 570, 978, 466, 536, 297, 83, 930, 468, 712, 296, 179, 58, 508, 524, 143, 151, 448, 455, 722, 137, 901, 530, 672, 76, 610, 392, 48, 946, 866, 942, 940, 858, 626, 512, 852, 811, 904, 322, 932, 276]


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeddings_modules_word_embeddings_parameters_weight_'
	shape = [1000, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -2.17313073e-5
	std = 0.0199730141
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_embeddings_modules_position_embeddings_parameters_weight_'
	shape = [512, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 6.77560058e-6
	std = 0.0199400804
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_embeddings_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_embeddings_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_attention_mask_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
