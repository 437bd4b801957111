class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'text_embeds_1'
	shape = [2, 512]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 't'
	shape = [512, 2]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.0
	std = 1.0
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_parameters_logit_scale_'
	shape = []
	dtype = "torch.float32"
	device = "cpu"
	mean = 2.65919995
	std = 0.0
	data = None
