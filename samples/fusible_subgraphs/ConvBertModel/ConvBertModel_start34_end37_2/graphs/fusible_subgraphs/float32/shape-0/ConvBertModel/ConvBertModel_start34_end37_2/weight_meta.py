class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x'
	shape = [2, 768, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_conv_attn_layer_modules_pointwise_parameters_weight_'
	shape = [384, 768, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.17084719e-5
	std = 0.0199791662
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_conv_attn_layer_parameters_bias_'
	shape = [384, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
