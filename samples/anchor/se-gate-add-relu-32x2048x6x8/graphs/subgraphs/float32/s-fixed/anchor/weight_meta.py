class Program_weight_tensor_meta_L_gate_:
	name = "L_gate_"
	original_name = "L_gate_"
	shape = [32, 2048, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00382656851
	std = 0.994663794
	data = None


class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000866652765
	std = 0.999660892
	data = None


class Program_weight_tensor_meta_L_shortcut_:
	name = "L_shortcut_"
	original_name = "L_shortcut_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.00107018559
	std = 1.00006874
	data = None
