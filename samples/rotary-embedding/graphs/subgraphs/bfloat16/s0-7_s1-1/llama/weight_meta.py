class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 7, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.844909532
	std = 0.417814828
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "sin_2"
	shape = [1, 7, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.141497744
	std = 0.302557003
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "query_states"
	shape = [1, 32, 7, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00421137438
	std = 1.28405466
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "key_states"
	shape = [1, 8, 7, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0350458449
	std = 1.28152691
	data = None
