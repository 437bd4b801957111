class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'q_1'
	shape = [8, 256, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'k_1'
	shape = [8, 64, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
