class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 3.0
    std = 0.05
    data = None


class Program_weight_tensor_meta_y:
    name = "y"
    shape = [32, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_z:
    name = "z"
    shape = [32, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 3.0
    std = 0.05
    data = None
