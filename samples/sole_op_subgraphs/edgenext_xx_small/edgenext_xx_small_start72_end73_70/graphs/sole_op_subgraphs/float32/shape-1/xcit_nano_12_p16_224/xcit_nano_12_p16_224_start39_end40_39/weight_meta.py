class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'getitem_4'
	shape = [1, 14, 14, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None
