class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "conv2d_2"
	shape = [8, 32, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0908367954
	std = 0.206131015
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "conv2d_3"
	shape = [8, 48, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0117187282
	std = 0.16395413
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "conv2d_4"
	shape = [8, 48, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00346850254
	std = 0.145838206
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "q_img"
	shape = [8, 8, 3136, 16]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00082460536
	std = 0.2273074
	data = None
