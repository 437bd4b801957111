class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'hidden_states_23'
	shape = [2, 16, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'hidden_states_7'
	shape = [2, 64, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
