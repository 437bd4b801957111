class Program_weight_tensor_meta_L_query_:
	name = "L_query_"
	original_name = "L_query_"
	shape = [1, 32, 1024, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.00016973672
	std = 0.999804858
	data = None


class Program_weight_tensor_meta_L_cosine_:
	name = "L_cosine_"
	original_name = "L_cosine_"
	shape = [1024, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.000674872986
	std = 0.999099121
	data = None


class Program_weight_tensor_meta_L_sine_:
	name = "L_sine_"
	original_name = "L_sine_"
	shape = [1024, 128]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00201265714
	std = 1.00131981
	data = None
