class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_5'
	shape = [2, 257, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_attn_modules_qkv_parameters_weight_'
	shape = [576, 192]
	dtype = "torch.float32"
	device = "cpu"
	mean = -6.13812534e-5
	std = 0.0199875655
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'qkv_bias'
	shape = [576]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_rope_buffers_pos_embed_'
	shape = [256, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.44759482
	std = 0.54741107
	data = None
