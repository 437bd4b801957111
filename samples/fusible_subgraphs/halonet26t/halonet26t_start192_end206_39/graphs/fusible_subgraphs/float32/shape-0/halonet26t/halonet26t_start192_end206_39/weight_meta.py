class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'q_10'
	shape = [2, 512, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'x_95'
	shape = [2, 512, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_stages_modules_3_modules_1_modules_self_attn_modules_kv_parameters_weight_'
	shape = [1024, 512, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.99040549e-5
	std = 0.044205698
	data = None
