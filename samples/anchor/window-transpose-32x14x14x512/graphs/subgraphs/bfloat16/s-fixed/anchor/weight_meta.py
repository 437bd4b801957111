class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 196, 512]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000771321352
	std = 0.999560694
	data = None
