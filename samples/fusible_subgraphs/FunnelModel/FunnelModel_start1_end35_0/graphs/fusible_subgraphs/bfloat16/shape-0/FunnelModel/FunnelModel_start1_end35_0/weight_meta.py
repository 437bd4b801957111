class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_input_ids_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 19
	max_val = 996
	data = [348, 427, 527, 256, 206, 509, 146, 641, 558, 996, 81, 431, 954, 964, 881, 40, 171, 685, 804, 460, 966, 717, 875, 847, 550, 222, 551, 888, 425, 201, 162, 549, 461, 93, 32, 964, 600, 146, 459, 781, 54, 414, 286, 512, 695, 314, 834, 733, 19, 428, 355, 995, 362, 453, 151, 597, 685, 871, 516, 987, 691, 260, 366, 206]


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_embeddings_modules_word_embeddings_parameters_weight_'
	shape = [1000, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -6.5608122e-5
	std = 0.999611578
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeddings_modules_layer_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_embeddings_modules_layer_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_attention_mask_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
