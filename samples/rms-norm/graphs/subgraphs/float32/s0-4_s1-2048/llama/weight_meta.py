class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "inputs_embeds"
	shape = [4, 2048, 4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = -5.5287265e-06
	std = 0.0199997542
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_"
	shape = [4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None
