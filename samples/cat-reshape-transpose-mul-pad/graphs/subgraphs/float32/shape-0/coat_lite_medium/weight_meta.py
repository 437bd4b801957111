class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "conv2d_2"
	shape = [1, 32, 9, 9]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.098009641
	std = 0.202489736
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "conv2d_3"
	shape = [1, 48, 9, 9]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00951343914
	std = 0.154182602
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "conv2d_4"
	shape = [1, 48, 9, 9]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00668087199
	std = 0.131361253
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = "q_img"
	shape = [1, 8, 81, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00203007267
	std = 0.222802409
	data = None
