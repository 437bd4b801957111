class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'attn_mask_3'
	shape = [16, 196, 196]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.0
	std = 6.5
	min_val = -26.0
	max_val = 26.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'ne'
	shape = [16, 196, 196]
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
	data = None
