class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_self_modules_features_modules_1_modules_0_modules_attn_modules_qkv_parameters_bias_'
	shape = [288]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
