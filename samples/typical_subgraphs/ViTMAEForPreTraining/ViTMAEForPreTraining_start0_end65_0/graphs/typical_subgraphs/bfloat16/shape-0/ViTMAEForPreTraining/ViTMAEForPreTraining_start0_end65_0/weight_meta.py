class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_kwargs_pixel_values_'
	shape = [2, 3, 224, 224]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00176732788
	std = 0.999875222
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_vit_modules_embeddings_modules_patch_embeddings_modules_projection_parameters_weight_'
	shape = [768, 3, 16, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.38121748e-5
	std = 0.0200355236
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_vit_modules_embeddings_modules_patch_embeddings_modules_projection_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_vit_modules_embeddings_parameters_position_embeddings_'
	shape = [1, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_kwargs_noise_'
	shape = [2, 196]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.499423899
	std = 0.291957294
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_vit_modules_embeddings_parameters_cls_token_'
	shape = [1, 1, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_layernorm_before_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_layernorm_before_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.40002331e-5
	std = 0.0200028337
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_k_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.49457089e-5
	std = 0.0199780464
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_k_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_v_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.29321683e-5
	std = 0.0199726591
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_v_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_o_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -5.02238434e-6
	std = 0.0199625767
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_attention_modules_o_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_layernorm_after_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_layernorm_after_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -8.91853227e-7
	std = 0.0200000562
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 7.79959432e-6
	std = 0.0200021756
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_vit_modules_layers_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_layernorm_before_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_layernorm_before_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.09380563e-5
	std = 0.0199835172
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_k_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 8.54739986e-6
	std = 0.0199931733
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_k_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_v_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -2.48420837e-5
	std = 0.0199682536
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_v_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
