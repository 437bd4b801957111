class Program_weight_tensor_meta_in_0:
	name = "in_0"
	original_name = 'L_kwargs_input_ids_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 40
	max_val = 994
	data = [253, 257, 736, 891, 123, 47, 98, 112, 259, 797, 462, 329, 145, 303, 893, 540, 322, 270, 872, 848, 534, 522, 162, 349, 897, 555, 717, 48, 580, 40, 615, 751, 979, 144, 596, 994, 89, 276, 502, 693, 255, 286, 819, 68, 725, 286, 560, 484, 899, 742, 310, 740, 484, 634, 688, 717, 59, 973, 342, 472, 117, 264, 617, 687]


class Program_weight_tensor_meta_in_1:
	name = "in_1"
	original_name = 'L_self_modules_embeddings_modules_tok_embeddings_parameters_weight_'
	shape = [1000, 768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -3.35180405e-7
	std = 0.0175916556
	data = None


class Program_weight_tensor_meta_in_2:
	name = "in_2"
	original_name = 'L_self_modules_embeddings_modules_norm_parameters_weight_'
	shape = [768]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 1.0
	std = 0.0
	data = None


class Program_weight_tensor_meta_in_3:
	name = "in_3"
	original_name = 'L_kwargs_attention_mask_'
	shape = [2, 32]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	min_val = 0
	max_val = 1
	data = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


class Program_weight_tensor_meta_in_4:
	name = "in_4"
	original_name = 'L_self_modules_rotary_emb_buffers_full_attention_inv_freq_'
	shape = [32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.100049327
	std = 0.221976377
	data = None


class Program_weight_tensor_meta_in_5:
	name = "in_5"
	original_name = 'L_self_modules_rotary_emb_buffers_sliding_attention_inv_freq_'
	shape = [32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.124934632
	std = 0.236207561
	data = None
