class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 64, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = 9.93217694e-05
	std = 0.999776752
	data = None


class Program_weight_tensor_meta_L_kernel_:
	name = "L_kernel_"
	original_name = "L_kernel_"
	shape = [64, 64, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = 8.30658326e-05
	std = 0.0499495858
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00576371243
	std = 0.0913366566
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.38135299
	std = 0.624732259
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0794800596
	std = 1.06310595
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.149706275
	std = 0.956022931
	data = None
