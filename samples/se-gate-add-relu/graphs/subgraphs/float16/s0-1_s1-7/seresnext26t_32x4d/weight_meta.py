class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_se_7"
	shape = [1, 256, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0145452321
	std = 0.150975974
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_21"
	shape = [1, 256, 7, 7]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00130281087
	std = 0.0477304005
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "x_13"
	shape = [1, 256, 7, 7]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.110348388
	std = 0.172128912
	data = None
