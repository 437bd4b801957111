class Program_weight_tensor_meta_x:
    name = "x"
    shape = [64, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_y:
    name = "y"
    shape = [64, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.5
    std = 2.0
    data = None
