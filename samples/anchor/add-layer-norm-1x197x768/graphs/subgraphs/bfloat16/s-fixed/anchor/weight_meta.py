class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [1, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00194904109
	std = 1.00029724
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [1, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00562554316
	std = 1.00065181
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0201841114
	std = 1.01357465
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0382209122
	std = 0.978887599
	data = None
