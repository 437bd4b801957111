class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'flatten'
	shape = [2, 768, 196]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
