class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'qkv'
	shape = [2, 49, 1536]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stages_modules_3_modules_blocks_modules_4_modules_token_mixer_attention_bias_cache_cpu_'
	shape = [8, 49, 49]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None
