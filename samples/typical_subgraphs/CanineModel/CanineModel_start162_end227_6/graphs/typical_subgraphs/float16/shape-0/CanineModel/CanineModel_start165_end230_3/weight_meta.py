class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'value_164'
	shape = [2, 12, 16, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'value_layer_2'
	shape = [2, 12, 16, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_dense_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -5.6970583e-6
	std = 0.0199702762
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'hidden_states_15'
	shape = [2, 16, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_intermediate_modules_dense_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.10879396e-5
	std = 0.019990935
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_intermediate_modules_dense_parameters_bias_'
	shape = [3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_output_modules_dense_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.61032468e-5
	std = 0.0200082346
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_output_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_output_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_output_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_pooler_modules_dense_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.6922611e-5
	std = 0.0199875521
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_pooler_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'hidden_states_7'
	shape = [2, 64, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_projection_modules_conv_parameters_weight_'
	shape = [768, 1536, 4]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.58517918e-6
	std = 0.0200097746
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_projection_modules_conv_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_projection_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_projection_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'attention_mask'
	shape = [2, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	min_val = 1.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -4.86647645e-6
	std = 0.0199826669
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 4.90899721e-6
	std = 0.020005853
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.39350419e-5
	std = 0.020009602
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_final_char_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
