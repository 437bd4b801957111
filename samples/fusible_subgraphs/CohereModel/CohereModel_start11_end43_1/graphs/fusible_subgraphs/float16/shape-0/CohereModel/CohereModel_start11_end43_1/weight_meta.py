class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'packed_sequence_mask'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 32
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'expand_1'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 31
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'position_ids_1'
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
	original_name = 'L_self_modules_rotary_emb_buffers_inv_freq_'
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0928955217
	std = 0.217279893
	data = None
