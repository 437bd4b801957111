class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [4, 2048, 4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000157853999
	std = 1.00008173
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [4096]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00633284151
	std = 0.980995214
	data = None
