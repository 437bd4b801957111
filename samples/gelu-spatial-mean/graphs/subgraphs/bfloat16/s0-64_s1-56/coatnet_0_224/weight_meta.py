class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "x_11"
	shape = [64, 384, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00178161026
	std = 0.0934874055
	data = None
