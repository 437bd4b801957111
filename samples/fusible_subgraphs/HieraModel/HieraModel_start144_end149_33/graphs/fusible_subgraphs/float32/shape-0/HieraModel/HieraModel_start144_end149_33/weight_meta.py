class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_44'
	shape = [2, 49, 3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_stages_modules_3_modules_layers_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.82486219e-5
	std = 0.0200011831
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_stages_modules_3_modules_layers_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0199999996
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_41'
	shape = [2, 49, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
