class Program_weight_tensor_meta_x:
    name = "x"
    shape = [40, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_v:
    name = "v"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 2.0
    std = 0.3
    data = None
    min_val = 0.0
