class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [8, 12, 128, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00331611629
	std = 2.46411474
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [8, 12, 128, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000110196106
	std = 0.0196890778
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [8, 1, 128, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -7.67940705e+37
	std = 1.41888202e+38
	min_val = -3.3895313892515355e+38
	max_val = 0.0
	data = None
