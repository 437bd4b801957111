class Program_weight_tensor_meta_L_query_:
	name = "L_query_"
	original_name = "L_query_"
	shape = [1, 32, 1024, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000169371125
	std = 0.999804122
	data = None


class Program_weight_tensor_meta_L_cosine_:
	name = "L_cosine_"
	original_name = "L_cosine_"
	shape = [1024, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.000666923759
	std = 0.999100073
	data = None


class Program_weight_tensor_meta_L_sine_:
	name = "L_sine_"
	original_name = "L_sine_"
	shape = [1024, 128]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00202752837
	std = 1.00131749
	data = None
