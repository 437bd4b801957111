class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'output'
	shape = [2, 32, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'value_977'
	shape = [2, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'max_for_state_29'
	shape = [2, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'time_decay'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -3.3895313892515355e38
	max_val = -0.0
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'current_key_30'
	shape = [2, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'num_state_30'
	shape = [2, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_6:
	name = "in_6"
	original_name = 'current_value_30'
	shape = [2, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_7:
	name = "in_7"
	original_name = 'den_state_30'
	shape = [2, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = 0.0
	data = None


class Program_weight_tensor_meta_in_8:
	name = "in_8"
	original_name = 'key_1'
	shape = [2, 32, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_9:
	name = "in_9"
	original_name = 'value_1'
	shape = [2, 32, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_10:
	name = "in_10"
	original_name = 'L_self_modules_blocks_modules_0_modules_attention_parameters_time_first_'
	shape = [512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_11:
	name = "in_11"
	original_name = 'receptance_1'
	shape = [2, 32, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.5
	std = 0.125
	min_val = 0.0
	max_val = 1.0
	data = None
