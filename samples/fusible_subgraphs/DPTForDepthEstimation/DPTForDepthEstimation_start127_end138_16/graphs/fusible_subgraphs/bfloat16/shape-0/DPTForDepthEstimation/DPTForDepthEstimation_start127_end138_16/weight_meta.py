class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_state_5'
	shape = [2, 96, 14, 14]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_neck_modules_reassemble_stage_modules_layers_modules_0_modules_resize_parameters_weight_'
	shape = [96, 96, 4, 4]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -3.76360263e-5
	std = 0.0199906532
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_neck_modules_reassemble_stage_modules_layers_modules_0_modules_resize_parameters_bias_'
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_15'
	shape = [2, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
