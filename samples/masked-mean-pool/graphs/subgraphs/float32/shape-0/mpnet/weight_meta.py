class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = "L_attention_mask_"
	shape = [5, 13]
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
	shape = [5, 13, 768]
	dtype = "torch.float32"
	device = "cpu"
	mean = -1.8411892e-09
	std = 1.00000001
	data = None
