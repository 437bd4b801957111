class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 64, 56, 56]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 9.83230004e-05
	std = 0.999775899
	data = None


class Program_weight_tensor_meta_L_kernel_:
	name = "L_kernel_"
	original_name = "L_kernel_"
	shape = [64, 64, 3, 3]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 8.26028726e-05
	std = 0.0499500748
	data = None


class Program_weight_tensor_meta_L_mean_:
	name = "L_mean_"
	original_name = "L_mean_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00573125482
	std = 0.0912779889
	data = None


class Program_weight_tensor_meta_L_variance_:
	name = "L_variance_"
	original_name = "L_variance_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.38098145
	std = 0.625604325
	data = None


class Program_weight_tensor_meta_L_weight_:
	name = "L_weight_"
	original_name = "L_weight_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.0798258781
	std = 1.06391713
	data = None


class Program_weight_tensor_meta_L_bias_:
	name = "L_bias_"
	original_name = "L_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.149812698
	std = 0.955701848
	data = None
