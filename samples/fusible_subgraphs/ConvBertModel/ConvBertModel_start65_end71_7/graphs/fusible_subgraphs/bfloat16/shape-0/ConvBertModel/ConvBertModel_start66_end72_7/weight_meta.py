class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'value_65'
	shape = [2, 6, 32, 32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'value_layer'
	shape = [2, 6, 32, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'conv_out_layer_7'
	shape = [64, 384]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
