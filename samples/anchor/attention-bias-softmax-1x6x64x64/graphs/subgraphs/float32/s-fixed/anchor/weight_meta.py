class Program_weight_tensor_meta_L_scores_:
	name = "L_scores_"
	original_name = "L_scores_"
	shape = [1, 6, 64, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00847691408
	std = 1.00205773
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1, 6, 64, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0077198405
	std = 0.997538677
	data = None
