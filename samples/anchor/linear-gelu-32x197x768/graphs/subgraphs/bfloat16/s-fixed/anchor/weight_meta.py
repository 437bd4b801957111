class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 197, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -7.34338606e-05
	std = 0.999730552
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [3072, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.20491372e-06
	std = 0.0199963203
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [3072]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.0137021821
	std = 0.979516802
	data = None
