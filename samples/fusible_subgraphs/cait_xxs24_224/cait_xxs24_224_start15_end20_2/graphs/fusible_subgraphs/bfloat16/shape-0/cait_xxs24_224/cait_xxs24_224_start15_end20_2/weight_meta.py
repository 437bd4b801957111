class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attn'
	shape = [2, 4, 196, 196]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_l_parameters_weight_'
	shape = [4, 4]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 3.6148238e-5
	std = 0.019405739
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_l_parameters_bias_'
	shape = [4]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
