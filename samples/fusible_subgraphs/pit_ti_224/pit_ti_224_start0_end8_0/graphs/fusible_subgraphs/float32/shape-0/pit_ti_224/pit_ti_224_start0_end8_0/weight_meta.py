class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 224, 224]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000335346601
	std = 1.00034
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_patch_embed_modules_conv_parameters_weight_'
	shape = [64, 3, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 3.42254808e-5
	std = 0.0207874377
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_patch_embed_modules_conv_parameters_bias_'
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00127603202
	std = 0.0194647111
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_parameters_pos_embed_'
	shape = [1, 64, 27, 27]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0001659993
	std = 0.0200071654
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_parameters_cls_token_'
	shape = [1, 1, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00187898558
	std = 0.0197571975
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_transformers_modules_0_modules_blocks_modules_0_modules_norm1_parameters_weight_'
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_transformers_modules_0_modules_blocks_modules_0_modules_norm1_parameters_bias_'
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
