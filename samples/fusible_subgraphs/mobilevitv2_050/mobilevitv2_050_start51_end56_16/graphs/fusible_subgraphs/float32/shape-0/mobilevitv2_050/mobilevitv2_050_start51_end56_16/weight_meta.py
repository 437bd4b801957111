class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'key'
	shape = [2, 64, 4, 144]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'context_scores'
	shape = [2, 1, 4, 144]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'value'
	shape = [2, 64, 4, 144]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
