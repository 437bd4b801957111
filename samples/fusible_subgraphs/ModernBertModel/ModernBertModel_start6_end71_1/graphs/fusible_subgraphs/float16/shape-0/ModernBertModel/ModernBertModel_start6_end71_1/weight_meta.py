class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attention_mask'
	shape = [2, 32]
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_kwargs_attention_mask_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'position_ids'
	shape = [1, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 31
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_rotary_emb_buffers_full_attention_inv_freq_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.100049327
	std = 0.221976377
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_rotary_emb_buffers_sliding_attention_inv_freq_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.124934632
	std = 0.236207561
	data = None
