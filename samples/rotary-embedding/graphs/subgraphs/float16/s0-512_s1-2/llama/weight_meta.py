class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 512, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.362142973
	std = 0.715617869
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "sin_2"
	shape = [1, 512, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.167226712
	std = 0.573397371
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "query_states"
	shape = [2, 32, 512, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000290659792
	std = 1.27855333
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "key_states"
	shape = [2, 8, 512, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00200023504
	std = 1.27880249
	data = None
