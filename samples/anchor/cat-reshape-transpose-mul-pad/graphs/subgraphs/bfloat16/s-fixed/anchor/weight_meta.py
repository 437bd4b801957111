class Program_weight_tensor_meta_L_b_:
	name = "L_b_"
	original_name = "L_b_"
	shape = [1, 32, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -8.05851456e-05
	std = 1.00190184
	data = None


class Program_weight_tensor_meta_L_c_:
	name = "L_c_"
	original_name = "L_c_"
	shape = [1, 48, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00260357738
	std = 0.997459272
	data = None


class Program_weight_tensor_meta_L_d_:
	name = "L_d_"
	original_name = "L_d_"
	shape = [1, 48, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000291550667
	std = 0.99857272
	data = None


class Program_weight_tensor_meta_L_a_:
	name = "L_a_"
	original_name = "L_a_"
	shape = [1, 8, 3136, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00344824585
	std = 1.00070598
	data = None
