class Program_weight_tensor_meta_L_a_:
	name = "L_a_"
	original_name = "L_a_"
	shape = [128, 512, 8, 8]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00016973672
	std = 0.999804858
	data = None


class Program_weight_tensor_meta_L_b_:
	name = "L_b_"
	original_name = "L_b_"
	shape = [128, 512, 8, 8]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00012795964
	std = 1.00004929
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000464173965
	std = 0.100145496
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.31229401
	std = 0.606522451
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0104674492
	std = 0.977201759
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1024]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0368402151
	std = 1.05683485
	data = None
