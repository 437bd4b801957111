class Program_weight_tensor_meta_c:
    name = "c"
    shape = [16, 256]
    dtype = "torch.int32"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -500
    max_val = 500


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 8]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
