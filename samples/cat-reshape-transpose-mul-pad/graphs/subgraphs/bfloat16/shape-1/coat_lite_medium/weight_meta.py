class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "conv2d_2"
	shape = [8, 32, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0908367357
	std = 0.206131334
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "conv2d_3"
	shape = [8, 48, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0117187091
	std = 0.163953728
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "conv2d_4"
	shape = [8, 48, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00346838062
	std = 0.145837712
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "q_img"
	shape = [8, 8, 3136, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000824879967
	std = 0.227306581
	data = None
