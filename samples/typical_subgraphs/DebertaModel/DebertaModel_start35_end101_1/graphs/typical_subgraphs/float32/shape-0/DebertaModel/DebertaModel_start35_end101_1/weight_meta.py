class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'embeddings_1'
	shape = [2, 32, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_in_proj_parameters_weight_'
	shape = [2304, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.84657425e-5
	std = 0.0199955559
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_parameters_q_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_parameters_v_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_encoder_modules_rel_embeddings_parameters_weight_'
	shape = [1024, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 8.75314713e-7
	std = 0.0200047108
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'rel_pos_ids_2'
	shape = [1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = -31
	max_val = 31
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_pos_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.73698783e-5
	std = 0.020006215
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_pos_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -2.55246237e-5
	std = 0.0199910878
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_pos_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'attention_mask'
	shape = [2, 1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = None
