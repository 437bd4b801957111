class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'result'
	shape = []
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'ge'
	shape = [1, 1, 32, 1]
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
	data = None
