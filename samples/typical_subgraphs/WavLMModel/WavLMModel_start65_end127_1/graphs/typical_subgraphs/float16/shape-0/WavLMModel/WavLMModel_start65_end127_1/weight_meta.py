class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'mul_2'
	shape = [2, 12, 24, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'gate_a'
	shape = [2, 12, 24, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'position_bias'
	shape = [24, 24, 24]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'hidden_states_24'
	shape = [2, 24, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_k_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_v_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_out_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.30861396e-5
	std = 0.0200272194
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_out_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 6.32749049e-6
	std = 0.0199820682
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_k_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -6.0246589e-6
	std = 0.0199941107
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_attention_modules_v_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.23568034e-5
	std = 0.0199951315
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_layer_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_layer_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_feed_forward_modules_intermediate_dense_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -6.43051451e-6
	std = 0.0199985447
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_feed_forward_modules_intermediate_dense_parameters_bias_'
	shape = [3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_feed_forward_modules_output_dense_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.02460998e-5
	std = 0.0199941145
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_feed_forward_modules_output_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_final_layer_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_final_layer_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_gru_rel_pos_linear_parameters_weight_'
	shape = [8, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000623367412
	std = 0.0200799246
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_gru_rel_pos_linear_parameters_bias_'
	shape = [8]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_parameters_gru_rel_pos_const_'
	shape = [1, 12, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_q_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_k_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_v_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_out_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -5.90007318e-5
	std = 0.0200003074
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_out_proj_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_q_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.26595276e-5
	std = 0.0199773537
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_k_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.16733072e-6
	std = 0.0199970013
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_attention_modules_v_proj_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.05105232e-5
	std = 0.0200043637
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_layer_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_32:
	name = "in_32"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_layer_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_33:
	name = "in_33"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_intermediate_dense_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.0690025e-6
	std = 0.0200097119
	data = None


class Program_weight_tensor_meta_in_34:
	name = "in_34"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_intermediate_dense_parameters_bias_'
	shape = [3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_35:
	name = "in_35"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_output_dense_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 5.48732606e-6
	std = 0.0199852053
	data = None


class Program_weight_tensor_meta_in_36:
	name = "in_36"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_feed_forward_modules_output_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_37:
	name = "in_37"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_final_layer_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_38:
	name = "in_38"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_final_layer_norm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
