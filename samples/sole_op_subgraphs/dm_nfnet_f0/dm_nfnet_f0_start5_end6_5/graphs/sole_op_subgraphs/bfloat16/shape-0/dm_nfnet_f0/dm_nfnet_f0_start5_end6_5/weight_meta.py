class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'batch_norm'
	shape = [1, 16, 27]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_stem_modules_conv1_parameters_weight_'
	shape = [16, 3, 3, 3]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00128949449
	std = 0.197797763
	data = None
