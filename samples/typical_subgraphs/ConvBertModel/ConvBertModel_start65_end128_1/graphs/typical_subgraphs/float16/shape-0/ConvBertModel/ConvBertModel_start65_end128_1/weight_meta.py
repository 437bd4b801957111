class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attention_probs'
	shape = [2, 6, 32, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'value_layer'
	shape = [2, 6, 32, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'conv_out_layer_7'
	shape = [64, 384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_dense_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2.92200938e-5
	std = 0.0200120618
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'embeddings_1'
	shape = [2, 32, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_intermediate_modules_dense_parameters_weight_'
	shape = [3072, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 9.99438623e-7
	std = 0.0199985229
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_intermediate_modules_dense_parameters_bias_'
	shape = [3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_output_modules_dense_parameters_weight_'
	shape = [768, 3072]
	dtype = "torch.float16"
	device = "cpu"
	mean = 3.51212612e-6
	std = 0.019997886
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_output_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_12:
	name = "in_12"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_output_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_13:
	name = "in_13"
	original_name = 'L_self_modules_encoder_modules_layer_modules_0_modules_output_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_14:
	name = "in_14"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_key_parameters_weight_'
	shape = [384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.55934833e-5
	std = 0.0199730702
	data = None


class Program_weight_tensor_meta_in_15:
	name = "in_15"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_key_parameters_bias_'
	shape = [384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_16:
	name = "in_16"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_value_parameters_weight_'
	shape = [384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.28716228e-5
	std = 0.0200308495
	data = None


class Program_weight_tensor_meta_in_17:
	name = "in_17"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_value_parameters_bias_'
	shape = [384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_18:
	name = "in_18"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_key_conv_attn_layer_modules_depthwise_parameters_weight_'
	shape = [768, 1, 9]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000541787038
	std = 0.0198268484
	data = None


class Program_weight_tensor_meta_in_19:
	name = "in_19"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_key_conv_attn_layer_modules_pointwise_parameters_weight_'
	shape = [384, 768, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.79247651e-5
	std = 0.0200488376
	data = None


class Program_weight_tensor_meta_in_20:
	name = "in_20"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_key_conv_attn_layer_parameters_bias_'
	shape = [384, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_21:
	name = "in_21"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_query_parameters_weight_'
	shape = [384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.2540137e-5
	std = 0.019996381
	data = None


class Program_weight_tensor_meta_in_22:
	name = "in_22"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_query_parameters_bias_'
	shape = [384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_23:
	name = "in_23"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_conv_kernel_layer_parameters_weight_'
	shape = [54, 384]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000239841993
	std = 0.0199992532
	data = None


class Program_weight_tensor_meta_in_24:
	name = "in_24"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_conv_kernel_layer_parameters_bias_'
	shape = [54]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_25:
	name = "in_25"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_conv_out_layer_parameters_weight_'
	shape = [384, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -8.93769686e-6
	std = 0.0199925724
	data = None


class Program_weight_tensor_meta_in_26:
	name = "in_26"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_self_modules_conv_out_layer_parameters_bias_'
	shape = [384]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_27:
	name = "in_27"
	original_name = 'mask'
	shape = [2, 1, 32, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -65504.0
	max_val = 0.0
	data = None


class Program_weight_tensor_meta_in_28:
	name = "in_28"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_dense_parameters_weight_'
	shape = [768, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = -1.49664043e-5
	std = 0.0200101287
	data = None


class Program_weight_tensor_meta_in_29:
	name = "in_29"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_dense_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_30:
	name = "in_30"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_LayerNorm_parameters_weight_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_31:
	name = "in_31"
	original_name = 'L_self_modules_encoder_modules_layer_modules_1_modules_attention_modules_output_modules_LayerNorm_parameters_bias_'
	shape = [768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
