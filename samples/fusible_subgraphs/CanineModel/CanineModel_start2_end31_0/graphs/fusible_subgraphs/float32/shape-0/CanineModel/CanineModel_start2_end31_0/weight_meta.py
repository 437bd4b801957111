class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attention_mask'
	shape = [2, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	min_val = 1.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_char_embeddings_buffers_position_ids_'
	shape = [1, 16384]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 16383
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_input_ids_'
	shape = [2, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 32
	max_val = 126
	data = None
