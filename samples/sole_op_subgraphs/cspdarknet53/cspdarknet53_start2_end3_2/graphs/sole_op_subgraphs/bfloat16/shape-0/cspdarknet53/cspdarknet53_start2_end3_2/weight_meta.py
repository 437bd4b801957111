class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_1'
	shape = [2, 32, 128, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
