class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'value_35'
	shape = [2, 32, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_in_proj_parameters_weight_'
	shape = [2304, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.84657425e-5
	std = 0.0199955559
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_parameters_q_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_parameters_v_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
