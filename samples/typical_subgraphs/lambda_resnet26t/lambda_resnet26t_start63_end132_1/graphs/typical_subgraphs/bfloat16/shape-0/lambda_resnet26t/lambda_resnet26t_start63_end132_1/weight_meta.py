class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_57'
	shape = [2, 1024, 10, 10]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_2_modules_0_modules_shortcut_modules_bn_buffers_running_mean_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_2_modules_0_modules_shortcut_modules_bn_buffers_running_var_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_stages_modules_2_modules_0_modules_shortcut_modules_bn_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_stages_modules_2_modules_0_modules_shortcut_modules_bn_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'x_56'
	shape = [2, 1024, 10, 10]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv1_1x1_modules_conv_parameters_weight_'
	shape = [256, 1024, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -8.19873632e-5
	std = 0.0883329703
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv1_1x1_modules_bn_buffers_running_mean_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv1_1x1_modules_bn_buffers_running_var_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv1_1x1_modules_bn_parameters_weight_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv1_1x1_modules_bn_parameters_bias_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_qkv_parameters_weight_'
	shape = [144, 256, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 7.21417608e-5
	std = 0.0625134443
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_q_buffers_running_mean_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_q_buffers_running_var_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_q_parameters_weight_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_q_parameters_bias_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_v_buffers_running_mean_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_v_buffers_running_var_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_v_parameters_weight_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_norm_v_parameters_bias_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_conv_lambda_parameters_weight_'
	shape = [16, 1, 9, 9, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.015527096
	std = 0.258721449
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_self_attn_modules_conv_lambda_parameters_bias_'
	shape = [16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0109732004
	std = 0.062741109
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_post_attn_buffers_running_mean_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_post_attn_buffers_running_var_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_post_attn_parameters_weight_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_post_attn_parameters_bias_'
	shape = [256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv3_1x1_modules_conv_parameters_weight_'
	shape = [1024, 256, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 5.13614304e-5
	std = 0.0442299539
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv3_1x1_modules_bn_buffers_running_mean_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv3_1x1_modules_bn_buffers_running_var_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv3_1x1_modules_bn_parameters_weight_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_stages_modules_2_modules_1_modules_conv3_1x1_modules_bn_parameters_bias_'
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_conv1_1x1_modules_conv_parameters_weight_'
	shape = [512, 1024, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 6.51171528e-5
	std = 0.0624822733
	data = None


class Program_weight_tensor_meta_in_32:
	name = "in_32"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_conv1_1x1_modules_bn_buffers_running_mean_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_33:
	name = "in_33"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_conv1_1x1_modules_bn_buffers_running_var_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_34:
	name = "in_34"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_conv1_1x1_modules_bn_parameters_weight_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_35:
	name = "in_35"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_conv1_1x1_modules_bn_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_36:
	name = "in_36"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_qkv_parameters_weight_'
	shape = [208, 512, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000207927239
	std = 0.0439220903
	data = None


class Program_weight_tensor_meta_in_37:
	name = "in_37"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_q_buffers_running_mean_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_38:
	name = "in_38"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_q_buffers_running_var_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_39:
	name = "in_39"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_q_parameters_weight_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_40:
	name = "in_40"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_q_parameters_bias_'
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_41:
	name = "in_41"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_v_buffers_running_mean_'
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_42:
	name = "in_42"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_v_buffers_running_var_'
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_43:
	name = "in_43"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_v_parameters_weight_'
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_44:
	name = "in_44"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_norm_v_parameters_bias_'
	shape = [128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_45:
	name = "in_45"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_conv_lambda_parameters_weight_'
	shape = [16, 1, 9, 9, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0151432812
	std = 0.247900889
	data = None


class Program_weight_tensor_meta_in_46:
	name = "in_46"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_self_attn_modules_conv_lambda_parameters_bias_'
	shape = [16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0144160602
	std = 0.0660934907
	data = None


class Program_weight_tensor_meta_in_47:
	name = "in_47"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_buffers_running_mean_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_48:
	name = "in_48"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_buffers_running_var_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_49:
	name = "in_49"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_parameters_weight_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_50:
	name = "in_50"
	original_name = 'L_self_modules_stages_modules_3_modules_0_modules_post_attn_parameters_bias_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
