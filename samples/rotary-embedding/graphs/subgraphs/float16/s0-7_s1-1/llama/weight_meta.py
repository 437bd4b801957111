class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 7, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.844871317
	std = 0.41779539
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "sin_2"
	shape = [1, 7, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.141543351
	std = 0.302696837
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "query_states"
	shape = [1, 32, 7, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00422134625
	std = 1.28403769
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "key_states"
	shape = [1, 8, 7, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0350391359
	std = 1.28156805
	data = None
