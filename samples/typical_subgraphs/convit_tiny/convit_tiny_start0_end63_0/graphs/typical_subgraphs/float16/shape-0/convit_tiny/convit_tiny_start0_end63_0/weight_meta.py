class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_x_'
	shape = [2, 3, 224, 224]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00015518307
	std = 0.999493199
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_patch_embed_modules_proj_parameters_weight_'
	shape = [192, 3, 16, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.5921378e-5
	std = 0.0208257893
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_patch_embed_modules_proj_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000750950658
	std = 0.0211142135
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_parameters_pos_embed_'
	shape = [1, 196, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000187376096
	std = 0.0200297386
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_weight_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm1_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qk_parameters_weight_'
	shape = [384, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.164746e-5
	std = 0.0199985525
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_buffers_rel_indices_'
	shape = [1, 196, 196, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 21.6666667
	std = 44.0687594
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_pos_proj_parameters_weight_'
	shape = [4, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.333333333
	std = 0.942809042
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_pos_proj_parameters_bias_'
	shape = [4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_parameters_gating_param_'
	shape = [4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_v_parameters_weight_'
	shape = [192, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00520833333
	std = 0.0719805988
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_parameters_weight_'
	shape = [192, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0001490623
	std = 0.0199832655
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_proj_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm2_parameters_weight_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_blocks_modules_0_modules_norm2_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [768, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.29556509e-5
	std = 0.0200074167
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [192, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.19428407e-5
	std = 0.0200543991
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_blocks_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_blocks_modules_1_modules_norm1_parameters_weight_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_blocks_modules_1_modules_norm1_parameters_bias_'
	shape = [192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_modules_qk_parameters_weight_'
	shape = [384, 192]
	dtype = "torch.float16"
	device = "cpu"
	mean = 7.78550543e-5
	std = 0.0199654506
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_buffers_rel_indices_'
	shape = [1, 196, 196, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 21.6666667
	std = 44.0687594
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_modules_pos_proj_parameters_weight_'
	shape = [4, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.333333333
	std = 0.942809042
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_modules_pos_proj_parameters_bias_'
	shape = [4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_blocks_modules_1_modules_attn_parameters_gating_param_'
	shape = [4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None
