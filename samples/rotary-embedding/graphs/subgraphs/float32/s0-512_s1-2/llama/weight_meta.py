class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 512, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.362141506
	std = 0.715615787
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "sin_2"
	shape = [1, 512, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.167225679
	std = 0.573396151
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "query_states"
	shape = [2, 32, 512, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000290673295
	std = 1.27855359
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "key_states"
	shape = [2, 8, 512, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00200049448
	std = 1.27880266
	data = None
