class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'embeddings_1'
	shape = [2, 32, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_conv_out_layer_parameters_weight_'
	shape = [384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000116122228
	std = 0.0199696151
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_conv_out_layer_parameters_bias_'
	shape = [384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
