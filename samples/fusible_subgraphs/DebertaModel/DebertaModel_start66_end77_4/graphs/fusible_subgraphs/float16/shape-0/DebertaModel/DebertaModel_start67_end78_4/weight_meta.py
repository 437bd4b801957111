class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'pos_key_layer'
	shape = [1, 64, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'query_layer_2'
	shape = [2, 12, 32, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'relative_pos'
	shape = [1, 1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = -31
	max_val = 31
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'att_span'
	shape = []
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 32
	max_val = 32
	data = None
