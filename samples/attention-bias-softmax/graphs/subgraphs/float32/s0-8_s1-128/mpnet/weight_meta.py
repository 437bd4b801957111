class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [8, 12, 128, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00331829204
	std = 2.46412719
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [8, 12, 128, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000111303425
	std = 0.0196848359
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [8, 1, 128, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = -7.70952192e+37
	std = 1.42444618e+38
	min_val = -3.4028234663852886e+38
	max_val = 0.0
	data = None
