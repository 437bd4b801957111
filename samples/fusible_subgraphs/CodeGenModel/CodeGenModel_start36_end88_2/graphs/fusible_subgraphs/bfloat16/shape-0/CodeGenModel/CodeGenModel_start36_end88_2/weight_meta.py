class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_1'
	shape = [2, 32, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_h_modules_0_modules_attn_modules_qkv_proj_parameters_weight_'
	shape = [3072, 1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 8.02993982e-6
	std = 0.0200067042
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_h_modules_0_modules_attn_buffers_embed_positions_'
	shape = [2048, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.182246932
	std = 0.683217429
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'position_ids_1'
	shape = [1, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 31
	data = None
