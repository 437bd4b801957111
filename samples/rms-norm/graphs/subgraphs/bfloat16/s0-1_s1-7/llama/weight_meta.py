class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "inputs_embeds"
	shape = [1, 7, 4096]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 9.22977727e-05
	std = 0.0199538711
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_"
	shape = [4096]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None
