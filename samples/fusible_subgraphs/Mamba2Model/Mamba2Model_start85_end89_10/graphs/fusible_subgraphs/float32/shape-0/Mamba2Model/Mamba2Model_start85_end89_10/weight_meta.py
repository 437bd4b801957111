class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'B_decay'
	shape = [2, 2, 16, 8, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'hidden_states_6'
	shape = [2, 2, 16, 8, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
