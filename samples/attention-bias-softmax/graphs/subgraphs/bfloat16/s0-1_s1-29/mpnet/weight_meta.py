class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [1, 12, 29, 29]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0274661679
	std = 2.46014708
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [1, 12, 29, 29]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00295539121
	std = 0.0195758055
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [1, 1, 29, 29]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -1.16880393e+37
	std = 6.18472905e+37
	min_val = -3.3895313892515355e+38
	max_val = 0.0
	data = None
