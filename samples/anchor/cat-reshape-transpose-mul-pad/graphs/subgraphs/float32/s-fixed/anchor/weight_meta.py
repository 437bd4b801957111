class Program_weight_tensor_meta_L_b_:
	name = "L_b_"
	original_name = "L_b_"
	shape = [1, 32, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = -8.23090975e-05
	std = 1.001897
	data = None


class Program_weight_tensor_meta_L_c_:
	name = "L_c_"
	original_name = "L_c_"
	shape = [1, 48, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00260648864
	std = 0.997464759
	data = None


class Program_weight_tensor_meta_L_d_:
	name = "L_d_"
	original_name = "L_d_"
	shape = [1, 48, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000287792472
	std = 0.998567507
	data = None


class Program_weight_tensor_meta_L_a_:
	name = "L_a_"
	original_name = "L_a_"
	shape = [1, 8, 3136, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00345001697
	std = 1.00070451
	data = None
