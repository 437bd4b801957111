class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'x_se_3'
	shape = [2, 72, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
