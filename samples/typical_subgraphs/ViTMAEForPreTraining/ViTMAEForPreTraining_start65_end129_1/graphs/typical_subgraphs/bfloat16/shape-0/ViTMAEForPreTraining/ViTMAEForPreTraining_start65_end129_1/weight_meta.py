class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attn_output_5'
	shape = [2, 12, 50, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_o_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.70232403e-5
	std = 0.0200469049
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_attention_modules_o_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_8'
	shape = [2, 50, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_layernorm_after_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_layernorm_after_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_mlp_modules_fc1_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.32131506e-5
	std = 0.0200076821
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_mlp_modules_fc1_parameters_bias_'
	shape = [3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_mlp_modules_fc2_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.51146851e-5
	std = 0.0200056926
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_vit_modules_layers_modules_1_modules_mlp_modules_fc2_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_vit_modules_layernorm_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_vit_modules_layernorm_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_decoder_modules_decoder_embed_parameters_weight_'
	shape = [512, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 7.86249195e-6
	std = 0.0199930839
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_decoder_modules_decoder_embed_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_decoder_parameters_mask_token_'
	shape = [1, 1, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'argsort_1'
	shape = [2, 196]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 195
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_decoder_parameters_decoder_pos_embed_'
	shape = [1, 197, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_layernorm_before_parameters_weight_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_layernorm_before_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_q_proj_parameters_weight_'
	shape = [512, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 6.03744192e-5
	std = 0.01998393
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_q_proj_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_k_proj_parameters_weight_'
	shape = [512, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.56795309e-5
	std = 0.0200132928
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_k_proj_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_v_proj_parameters_weight_'
	shape = [512, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 4.05293314e-5
	std = 0.0199788377
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_v_proj_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_o_proj_parameters_weight_'
	shape = [512, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.71829386e-6
	std = 0.0200042536
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_attention_modules_o_proj_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_layernorm_after_parameters_weight_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_layernorm_after_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_mlp_modules_fc1_parameters_weight_'
	shape = [2048, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -4.08802561e-5
	std = 0.0200301393
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_mlp_modules_fc1_parameters_bias_'
	shape = [2048]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_mlp_modules_fc2_parameters_weight_'
	shape = [512, 2048]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.41779802e-5
	std = 0.0200014706
	data = None


class Program_weight_tensor_meta_in_32:
	name = "in_32"
	original_name = 'L_self_modules_decoder_modules_decoder_layers_modules_0_modules_mlp_modules_fc2_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_33:
	name = "in_33"
	original_name = 'L_self_modules_decoder_modules_decoder_norm_parameters_weight_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_34:
	name = "in_34"
	original_name = 'L_self_modules_decoder_modules_decoder_norm_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_35:
	name = "in_35"
	original_name = 'L_self_modules_decoder_modules_decoder_pred_parameters_weight_'
	shape = [768, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -5.04360397e-5
	std = 0.0199900071
	data = None


class Program_weight_tensor_meta_in_36:
	name = "in_36"
	original_name = 'L_self_modules_decoder_modules_decoder_pred_parameters_bias_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_37:
	name = "in_37"
	original_name = 'L_kwargs_pixel_values_'
	shape = [2, 3, 224, 224]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00176732788
	std = 0.999875222
	data = None


class Program_weight_tensor_meta_in_38:
	name = "in_38"
	original_name = 'mask_1'
	shape = [2, 196]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None
