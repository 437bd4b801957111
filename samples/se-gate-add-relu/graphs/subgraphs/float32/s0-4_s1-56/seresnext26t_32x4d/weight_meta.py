class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_se_7"
	shape = [4, 256, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0139861026
	std = 0.152719599
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_21"
	shape = [4, 256, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00190090951
	std = 0.0540629014
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "x_13"
	shape = [4, 256, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.113374183
	std = 0.177588346
	data = None
