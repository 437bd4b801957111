class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'patches_1'
	shape = [2, 196, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_embeds_modules_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.94665597e-5
	std = 0.02000704
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeds_modules_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_embeds_parameters_pos_embed_'
	shape = [1, 16, 16, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 3.2512424e-5
	std = 0.0199762384
	data = None
