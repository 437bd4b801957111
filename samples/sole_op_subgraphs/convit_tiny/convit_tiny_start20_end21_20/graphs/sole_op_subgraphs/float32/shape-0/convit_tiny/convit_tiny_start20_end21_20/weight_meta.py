class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'gating'
	shape = [1, 4, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None
