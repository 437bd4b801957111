class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 224, 224]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00133018856
	std = 1.00169192
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_0_modules_0_parameters_weight_'
	shape = [16, 3, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00136879449
	std = 0.1109164
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_0_modules_1_buffers_running_mean_'
	shape = [16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_0_modules_1_buffers_running_var_'
	shape = [16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_0_modules_1_parameters_weight_'
	shape = [16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_0_modules_1_parameters_bias_'
	shape = [16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_2_modules_0_parameters_weight_'
	shape = [32, 16, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00106294264
	std = 0.0477952163
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_2_modules_1_buffers_running_mean_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_2_modules_1_buffers_running_var_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_2_modules_1_parameters_weight_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_2_modules_1_parameters_bias_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_4_modules_0_parameters_weight_'
	shape = [64, 32, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000435160235
	std = 0.0340506182
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_4_modules_1_buffers_running_mean_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_4_modules_1_buffers_running_var_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_4_modules_1_parameters_weight_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_4_modules_1_parameters_bias_'
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_6_modules_0_parameters_weight_'
	shape = [128, 64, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 6.99441955e-7
	std = 0.0240091517
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_6_modules_1_buffers_running_mean_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_6_modules_1_buffers_running_var_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_6_modules_1_parameters_weight_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_patch_embed_modules_proj_modules_6_modules_1_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
