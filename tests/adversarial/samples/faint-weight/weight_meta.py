class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1e-09
    data = None
