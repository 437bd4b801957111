class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'y_2'
	shape = [2, 256, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'x_10'
	shape = [2, 256, 40, 40]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
