class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'input_24'
	shape = [2, 192, 20, 20]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
