class Program_weight_tensor_meta_L_scores_:
	name = "L_scores_"
	original_name = "L_scores_"
	shape = [1, 6, 64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0084763505
	std = 1.00207469
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1, 6, 64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00771890648
	std = 0.997552128
	data = None
