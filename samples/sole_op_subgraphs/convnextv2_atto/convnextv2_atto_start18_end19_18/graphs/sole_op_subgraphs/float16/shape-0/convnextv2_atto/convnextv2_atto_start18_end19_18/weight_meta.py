class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'view'
	shape = [1, 160, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'view_1'
	shape = [1, 160, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'mul'
	shape = [2, 160, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
