class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [8, 3136, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000974636512
	std = 1.00014281
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [8, 3136, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.000855368391
	std = 0.999372644
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0521078507
	std = 0.908700169
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.122213562
	std = 1.09395641
	data = None
