class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 197, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -7.27312968e-05
	std = 0.99972987
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [32, 197, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 8.51774298e-05
	std = 1.00028745
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000365317265
	std = 1.00911873
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.022482801
	std = 0.99742563
	data = None
