class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'add_4'
	shape = [2, 32, 12, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'r_head'
	shape = [64, 12, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'cls_mask'
	shape = [32, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_self_modules_encoder_modules_blocks_modules_0_modules_0_modules_attention_parameters_r_s_bias_'
	shape = [12, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0494090392
	std = 0.0287627808
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'q_head_1'
	shape = [2, 32, 12, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
