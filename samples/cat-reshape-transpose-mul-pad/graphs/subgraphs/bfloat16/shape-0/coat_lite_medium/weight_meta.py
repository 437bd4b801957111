class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "conv2d_2"
	shape = [1, 32, 9, 9]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0980110227
	std = 0.202505568
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "conv2d_3"
	shape = [1, 48, 9, 9]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00951158645
	std = 0.154185506
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "conv2d_4"
	shape = [1, 48, 9, 9]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00668683324
	std = 0.131357977
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "q_img"
	shape = [1, 8, 81, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00203742748
	std = 0.222813738
	data = None
