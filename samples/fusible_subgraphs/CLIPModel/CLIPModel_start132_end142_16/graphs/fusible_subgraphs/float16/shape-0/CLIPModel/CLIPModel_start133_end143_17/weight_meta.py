class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'pooled_output_2'
	shape = [2, 512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_text_projection_parameters_weight_'
	shape = [512, 512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.35392342e-5
	std = 0.0441344368
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'image_embeds'
	shape = [2, 512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
