class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 64, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = 9.93180213e-05
	std = 0.999776458
	data = None


class Program_weight_tensor_meta_L_kernel_:
	name = "L_kernel_"
	original_name = "L_kernel_"
	shape = [64, 64, 3, 3]
	dtype = "torch.float16"
	device = "cpu"
	mean = 8.30768776e-05
	std = 0.0499495883
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.00576530024
	std = 0.0913383822
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.38149261
	std = 0.624798573
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0794869065
	std = 1.06321026
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.149698496
	std = 0.956028101
	data = None
