class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_past_values_'
	shape = [2, 512, 7]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0113619839
	std = 1.00724068
	data = None
