class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attention_output_ln'
	shape = [2, 32, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_intermediate_modules_dense_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -2.3132875e-6
	std = 0.0200080302
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_intermediate_modules_dense_parameters_bias_'
	shape = [3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
