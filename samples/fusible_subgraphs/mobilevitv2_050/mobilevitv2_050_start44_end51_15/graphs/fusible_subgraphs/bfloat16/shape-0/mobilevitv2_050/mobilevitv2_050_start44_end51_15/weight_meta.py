class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'group_norm'
	shape = [2, 64, 4, 144]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_transformer_modules_0_modules_attn_modules_qkv_proj_parameters_weight_'
	shape = [129, 64, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00237241762
	std = 0.125944653
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_transformer_modules_0_modules_attn_modules_qkv_proj_parameters_bias_'
	shape = [129]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
