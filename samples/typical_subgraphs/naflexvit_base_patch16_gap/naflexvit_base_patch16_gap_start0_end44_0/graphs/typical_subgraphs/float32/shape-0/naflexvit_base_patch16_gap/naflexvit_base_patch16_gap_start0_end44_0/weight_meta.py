class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 224, 224]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000996152749
	std = 0.998772624
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_embeds_modules_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.94665597e-5
	std = 0.02000704
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeds_modules_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_embeds_parameters_pos_embed_'
	shape = [1, 16, 16, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 3.2512424e-5
	std = 0.0199762384
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_embeds_parameters_reg_token_'
	shape = [1, 4, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -3.17188689e-8
	std = 9.97670982e-7
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_weight_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qkv_parameters_weight_'
	shape = [2304, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 3.79166321e-6
	std = 0.0199920655
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qkv_parameters_bias_'
	shape = [2304]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.37105532e-5
	std = 0.0141466802
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_blocks_modules_0_modules_ls1_parameters_gamma_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.99999975e-6
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 8.68677782e-6
	std = 0.0200106256
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.33936729e-5
	std = 0.0141380905
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_blocks_modules_0_modules_ls2_parameters_gamma_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.99999975e-6
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_fc_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_fc_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_head_parameters_weight_'
	shape = [1000, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -3.46053066e-5
	std = 0.0200066752
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_head_parameters_bias_'
	shape = [1000]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
