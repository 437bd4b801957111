class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'key_layer'
	shape = [2, 12, 32, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'value_92'
	shape = [1, 12, 64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'p2c_pos'
	shape = [1, 1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 1
	max_val = 63
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'score'
	shape = [2, 12, 32, 32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'attention_scores'
	shape = [2, 12, 32, 32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'attention_mask'
	shape = [2, 1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = None
