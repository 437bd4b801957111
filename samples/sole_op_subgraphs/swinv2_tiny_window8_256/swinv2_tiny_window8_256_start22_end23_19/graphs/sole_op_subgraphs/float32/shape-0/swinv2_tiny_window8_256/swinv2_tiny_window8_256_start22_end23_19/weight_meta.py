class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'clamp'
	shape = [3, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
