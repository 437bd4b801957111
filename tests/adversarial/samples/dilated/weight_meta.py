class Program_weight_tensor_meta_x:
    name = "x"
    shape = [2, 8, 40]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [8, 1, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 0.3
    data = None
