class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [256, 384, 56, 56]
	dtype = "torch.float16"
	device = "cpu"
	mean = -7.00860836e-05
	std = 0.999994313
	data = None
