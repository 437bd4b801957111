class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_10'
	shape = [2, 40, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'reshape'
	shape = [1, 40, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 9.99999997e-7
	std = 0.0
	data = None
