class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [1, 197, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00195262519
	std = 1.00028722
	data = None


class Program_weight_tensor_meta_L_residual_:
	name = "L_residual_"
	original_name = "L_residual_"
	shape = [1, 197, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.00562534061
	std = 1.00065556
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0201547861
	std = 1.01357769
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.0382653772
	std = 0.978972897
	data = None
