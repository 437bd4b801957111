class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'causal_mask_1'
	shape = [16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	min_val = -3.4028234663852886e38
	max_val = 0.0
	data = None
