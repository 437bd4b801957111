class Program_weight_tensor_meta_L_a_:
	name = "L_a_"
	original_name = "L_a_"
	shape = [128, 512, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000169371125
	std = 0.999804122
	data = None


class Program_weight_tensor_meta_L_b_:
	name = "L_b_"
	original_name = "L_b_"
	shape = [128, 512, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000129883267
	std = 1.00005138
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000475276813
	std = 0.100155396
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.31227489
	std = 0.606398734
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0104225687
	std = 0.977140736
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0368075631
	std = 1.05688197
	data = None
