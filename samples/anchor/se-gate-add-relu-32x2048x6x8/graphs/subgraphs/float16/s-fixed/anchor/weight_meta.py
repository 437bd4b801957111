class Program_weight_tensor_meta_L_gate_:
	name = "L_gate_"
	original_name = "L_gate_"
	shape = [32, 2048, 1, 1]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00382661126
	std = 0.994663153
	data = None


class Program_weight_tensor_meta_L_x_:
	name = "L_x_"
	original_name = "L_x_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000866601693
	std = 0.9996605
	data = None


class Program_weight_tensor_meta_L_shortcut_:
	name = "L_shortcut_"
	original_name = "L_shortcut_"
	shape = [32, 2048, 6, 8]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.00107012644
	std = 1.00006848
	data = None
