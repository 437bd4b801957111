class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_past_values_'
	shape = [2, 512, 7]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0113619839
	std = 1.00724068
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_embedder_modules_input_embedding_parameters_weight_'
	shape = [128, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000134591367
	std = 0.0206425966
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_embedder_modules_input_embedding_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_positional_encoder_parameters_position_enc_'
	shape = [32, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -4.40024905e-10
	std = 0.0999877917
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer1_modules_batchnorm_buffers_running_mean_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer1_modules_batchnorm_buffers_running_var_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer1_modules_batchnorm_parameters_weight_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer1_modules_batchnorm_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_q_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000113935041
	std = 0.0200501575
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_q_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_k_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -6.19227239e-7
	std = 0.019845887
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_k_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_v_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000182007047
	std = 0.0199859511
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_v_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 7.06616287e-5
	std = 0.0199152746
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_self_attn_modules_out_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer3_modules_batchnorm_buffers_running_mean_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer3_modules_batchnorm_buffers_running_var_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer3_modules_batchnorm_parameters_weight_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_norm_sublayer3_modules_batchnorm_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_ff_modules_0_parameters_weight_'
	shape = [512, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.60579781e-6
	std = 0.0199828255
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_ff_modules_0_parameters_bias_'
	shape = [512]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_ff_modules_3_parameters_weight_'
	shape = [128, 512]
	dtype = "torch.float16"
	device = "cpu"
	mean = -3.68433378e-5
	std = 0.0199598844
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_encoder_modules_layers_modules_0_modules_ff_modules_3_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_norm_sublayer1_modules_batchnorm_buffers_running_mean_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_norm_sublayer1_modules_batchnorm_buffers_running_var_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_norm_sublayer1_modules_batchnorm_parameters_weight_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_norm_sublayer1_modules_batchnorm_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_q_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00017705253
	std = 0.0200287878
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_q_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_k_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 9.17918478e-6
	std = 0.0200152414
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_k_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_32:
	name = "in_32"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_v_proj_parameters_weight_'
	shape = [128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.90793558e-6
	std = 0.0199213847
	data = None


class Program_weight_tensor_meta_in_33:
	name = "in_33"
	original_name = 'L_self_modules_encoder_modules_layers_modules_1_modules_self_attn_modules_v_proj_parameters_bias_'
	shape = [128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
