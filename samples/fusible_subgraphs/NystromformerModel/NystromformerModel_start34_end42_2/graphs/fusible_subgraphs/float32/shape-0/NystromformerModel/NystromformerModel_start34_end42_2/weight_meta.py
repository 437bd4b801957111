class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'linear_1'
	shape = [2, 32, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'embeddings_2'
	shape = [2, 32, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -2.83615423e-5
	std = 0.0199879457
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'query_layer'
	shape = [2, 12, 32, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
