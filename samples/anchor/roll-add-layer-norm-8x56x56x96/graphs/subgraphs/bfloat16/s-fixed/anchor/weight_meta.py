class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [8, 3136, 96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000975097957
	std = 1.00014491
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [8, 3136, 96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000854311105
	std = 0.999372853
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0519234339
	std = 0.908502609
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [96]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.122303645
	std = 1.09395946
	data = None
