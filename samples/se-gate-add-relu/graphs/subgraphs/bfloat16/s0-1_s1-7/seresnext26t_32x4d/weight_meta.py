class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_se_7"
	shape = [1, 256, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0145467818
	std = 0.150969964
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "x_21"
	shape = [1, 256, 7, 7]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00130262547
	std = 0.0477283995
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "x_13"
	shape = [1, 256, 7, 7]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.110350875
	std = 0.172130632
	data = None
