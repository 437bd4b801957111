class Program_weight_tensor_meta_L_a_:
	name = "L_a_"
	original_name = "L_a_"
	shape = [128, 512, 8, 8]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000169378297
	std = 0.999803737
	data = None


class Program_weight_tensor_meta_L_b_:
	name = "L_b_"
	original_name = "L_b_"
	shape = [128, 512, 8, 8]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000130004792
	std = 1.00005131
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000474462635
	std = 0.100155311
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.31228304
	std = 0.606404775
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0104186209
	std = 0.977143083
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1024]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.0368028943
	std = 1.05686862
	data = None
