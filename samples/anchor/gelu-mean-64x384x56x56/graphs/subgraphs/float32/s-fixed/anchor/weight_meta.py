class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [64, 384, 56, 56]
	dtype = "torch.float32"
	device = "cpu"
	mean = -8.84711174e-05
	std = 1.00009963
	data = None
