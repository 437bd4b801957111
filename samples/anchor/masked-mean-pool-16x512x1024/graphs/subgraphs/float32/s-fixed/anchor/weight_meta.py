class Program_weight_tensor_meta_L_mask_:
	name = "L_mask_"
	original_name = "L_mask_"
	shape = [16, 512]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = None


class Program_weight_tensor_meta_L_hidden_:
	name = "L_hidden_"
	original_name = "L_hidden_"
	shape = [16, 512, 1024]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.9743929e-05
	std = 0.999927772
	data = None
