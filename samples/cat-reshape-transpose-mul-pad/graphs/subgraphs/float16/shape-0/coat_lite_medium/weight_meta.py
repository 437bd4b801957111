class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "conv2d_2"
	shape = [1, 32, 9, 9]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0980086612
	std = 0.202488936
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "conv2d_3"
	shape = [1, 48, 9, 9]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0095132505
	std = 0.154183182
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "conv2d_4"
	shape = [1, 48, 9, 9]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00668004186
	std = 0.131361068
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "q_img"
	shape = [1, 8, 81, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00202970301
	std = 0.22280126
	data = None
