class Program_weight_tensor_meta_L_scores_:
	name = "L_scores_"
	original_name = "L_scores_"
	shape = [8, 6, 256, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000866601693
	std = 0.9996605
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1, 6, 256, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00177722488
	std = 1.00019972
	data = None
