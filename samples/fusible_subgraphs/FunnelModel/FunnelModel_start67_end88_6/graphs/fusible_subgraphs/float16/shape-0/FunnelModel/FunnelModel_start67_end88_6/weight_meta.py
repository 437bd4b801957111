class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'add_5'
	shape = [2, 32, 12, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_encoder_modules_blocks_modules_0_modules_0_modules_attention_parameters_seg_embed_'
	shape = [2, 12, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0499537469
	std = 0.0289074811
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'token_type_mat_1'
	shape = [2, 32, 32]
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'cls_mask'
	shape = [32, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'content_score'
	shape = [2, 12, 32, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'positional_attn_4'
	shape = [2, 12, 32, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'attention_mask'
	shape = [2, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None
