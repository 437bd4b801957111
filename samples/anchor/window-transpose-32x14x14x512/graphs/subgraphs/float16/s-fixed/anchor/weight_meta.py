class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 196, 512]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000770821836
	std = 0.999558983
	data = None
