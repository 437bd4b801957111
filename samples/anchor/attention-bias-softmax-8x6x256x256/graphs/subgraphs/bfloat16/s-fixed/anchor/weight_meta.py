class Program_weight_tensor_meta_L_scores_:
	name = "L_scores_"
	original_name = "L_scores_"
	shape = [8, 6, 256, 256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000867167256
	std = 0.999662283
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [1, 6, 256, 256]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00177736428
	std = 1.00019931
	data = None
