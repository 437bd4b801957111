class Program_weight_tensor_meta_L_gate_:
	name = "L_gate_"
	original_name = "L_gate_"
	shape = [32, 2048, 1, 1]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00382928203
	std = 0.994661362
	data = None


class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.000867167256
	std = 0.999662283
	data = None


class Program_weight_tensor_meta_L_shortcut_:
	name = "L_shortcut_"
	original_name = "L_shortcut_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.00106841142
	std = 1.00006599
	data = None
