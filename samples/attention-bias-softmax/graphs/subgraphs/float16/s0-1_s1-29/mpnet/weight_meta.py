class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [1, 12, 29, 29]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0274374385
	std = 2.46022403
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [1, 12, 29, 29]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00295531971
	std = 0.019573576
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [1, 1, 29, 29]
	dtype = "torch.float16"
	device = "cpu"
	mean = -2258.75862
	std = 11952.2272
	min_val = -65504.0
	max_val = 0.0
	data = None
