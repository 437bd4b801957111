class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [1, 12, 29, 29]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0274508301
	std = 2.46021671
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [1, 12, 29, 29]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00295533937
	std = 0.0195743749
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [1, 1, 29, 29]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.1733874e+37
	std = 6.20898252e+37
	min_val = -3.4028234663852886e+38
	max_val = 0.0
	data = None
