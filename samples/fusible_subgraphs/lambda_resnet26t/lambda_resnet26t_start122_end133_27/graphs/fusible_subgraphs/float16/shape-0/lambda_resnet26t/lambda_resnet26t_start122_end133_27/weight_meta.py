class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'position_lam_2'
	shape = [2, 16, 10, 10, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'q_3'
	shape = [2, 4, 100, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'content_out_1'
	shape = [2, 4, 100, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_buffers_running_mean_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_buffers_running_var_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_parameters_weight_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_parameters_bias_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
