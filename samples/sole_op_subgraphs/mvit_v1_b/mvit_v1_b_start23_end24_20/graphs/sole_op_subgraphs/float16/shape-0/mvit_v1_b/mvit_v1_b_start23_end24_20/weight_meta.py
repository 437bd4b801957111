class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'k'
	shape = [2, 1, 25089, 96]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
