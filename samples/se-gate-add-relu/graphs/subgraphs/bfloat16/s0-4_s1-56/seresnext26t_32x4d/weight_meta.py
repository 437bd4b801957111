class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_se_7"
	shape = [4, 256, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0139786454
	std = 0.152718104
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_21"
	shape = [4, 256, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00190090619
	std = 0.054062704
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "x_13"
	shape = [4, 256, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.113373764
	std = 0.177587684
	data = None
