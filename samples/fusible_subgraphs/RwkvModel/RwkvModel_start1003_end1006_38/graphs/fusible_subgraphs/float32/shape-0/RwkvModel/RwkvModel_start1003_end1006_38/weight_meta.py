class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'key_2'
	shape = [2, 32, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_blocks_modules_0_modules_feed_forward_modules_key_parameters_weight_'
	shape = [2048, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = -3.90271499e-5
	std = 0.0441941576
	data = None
