class Program_weight_tensor_meta_x:
    name = "x"
    shape = [64, 24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 3.0
    data = None


class Program_weight_tensor_meta_t:
    name = "t"
    shape = [64, 24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.5
    std = 0.5
    data = None
    min_val = 0.0
