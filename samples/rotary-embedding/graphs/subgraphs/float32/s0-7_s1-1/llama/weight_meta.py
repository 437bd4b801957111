class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 7, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.844864887
	std = 0.41778894
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "sin_2"
	shape = [1, 7, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.141542176
	std = 0.3026905
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "query_states"
	shape = [1, 32, 7, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00421793087
	std = 1.28403705
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "key_states"
	shape = [1, 8, 7, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0350449731
	std = 1.28156234
	data = None
