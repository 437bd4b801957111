class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "L_attention_mask_"
	shape = [16, 256]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = "hidden_states_4"
	shape = [16, 256, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.62403966e-06
	std = 0.999998247
	data = None
