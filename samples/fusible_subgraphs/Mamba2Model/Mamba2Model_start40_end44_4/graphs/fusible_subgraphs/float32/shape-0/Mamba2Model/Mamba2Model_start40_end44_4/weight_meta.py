class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'view_1'
	shape = [2, 32, 1, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'view_2'
	shape = [2, 32, 1, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
