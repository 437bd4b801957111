class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'linear_2'
	shape = [2, 196, 196, 4]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'v'
	shape = [2, 4, 196, 48]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
