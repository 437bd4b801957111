class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'rel_embeddings_1'
	shape = [1, 64, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.75314713e-7
	std = 0.0200047108
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_pos_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.55246237e-5
	std = 0.0199910878
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_pos_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
