class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_se_7"
	shape = [4, 256, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0139855705
	std = 0.152719808
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_21"
	shape = [4, 256, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00190091114
	std = 0.0540629087
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "x_13"
	shape = [4, 256, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.113374204
	std = 0.177588377
	data = None
