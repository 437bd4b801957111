class Program_weight_tensor_meta_L_scores_:
	name = "L_scores_"
	original_name = "L_scores_"
	shape = [8, 6, 256, 256]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000866652765
	std = 0.999660892
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1, 6, 256, 256]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00177762777
	std = 1.00020091
	data = None
