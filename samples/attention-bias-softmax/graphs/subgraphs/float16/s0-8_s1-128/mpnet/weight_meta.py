class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "attention_scores"
	shape = [8, 12, 128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00331746876
	std = 2.46412569
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "values_2"
	shape = [8, 12, 128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000111196526
	std = 0.0196846694
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = "mask_1"
	shape = [8, 1, 128, 128]
	dtype = "torch.float16"
	device = "cpu"
	mean = -14840.75
	std = 27420.4418
	min_val = -65504.0
	max_val = 0.0
	data = None
