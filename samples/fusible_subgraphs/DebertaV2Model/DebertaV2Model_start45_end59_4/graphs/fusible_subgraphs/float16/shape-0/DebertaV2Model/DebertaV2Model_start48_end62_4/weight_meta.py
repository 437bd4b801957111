class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'query_layer'
	shape = [24, 32, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'truediv'
	shape = [24, 64, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_encoder_modules_rel_embeddings_parameters_weight_'
	shape = [1024, 768]
	dtype = "torch.float16"
	device = "cpu"
	mean = 2.59938647e-5
	std = 0.0199997733
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'rel_pos_ids_3'
	shape = [1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = -31
	max_val = 31
	data = None


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'attention_mask'
	shape = [2, 1, 32, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = None
