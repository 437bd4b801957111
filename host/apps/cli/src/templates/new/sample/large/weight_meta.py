class Program_weight_tensor_meta_in_0:
	name = "in_0"
	shape = [8, 256, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	shape = [8, 256, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
