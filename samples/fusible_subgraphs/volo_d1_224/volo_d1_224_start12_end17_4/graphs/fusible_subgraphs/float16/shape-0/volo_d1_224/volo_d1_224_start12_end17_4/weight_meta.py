class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'layer_norm'
	shape = [2, 28, 28, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_network_modules_0_modules_0_modules_attn_modules_v_parameters_weight_'
	shape = [192, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000122729975
	std = 0.0199030353
	data = None
