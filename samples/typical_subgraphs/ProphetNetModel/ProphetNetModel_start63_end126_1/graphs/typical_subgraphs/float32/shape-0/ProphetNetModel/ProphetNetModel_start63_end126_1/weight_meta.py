class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_12'
	shape = [2, 32, 4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_output_parameters_weight_'
	shape = [1024, 4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = 2.15259725e-6
	std = 0.0199978809
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_output_parameters_bias_'
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_10'
	shape = [2, 32, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_layer_norm_parameters_weight_'
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_layer_norm_parameters_bias_'
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_decoder_input_ids_'
	shape = [2, 16]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 28
	max_val = 965
	data = [191, 211, 132, 656, 79, 538, 784, 488, 965, 458, 623, 28, 671, 844, 101, 44, 538, 523, 74, 509, 772, 811, 960, 889, 629, 397, 577, 946, 350, 386, 371, 692]


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_word_embeddings_parameters_weight_'
	shape = [1000, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = -4.48744496e-6
	std = 0.0199670712
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_decoder_modules_position_embeddings_parameters_weight_'
	shape = [512, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.78657575e-5
	std = 0.0199599264
	data = None
