class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 3.0
    std = 0.5
    data = None
    min_val = 0.1
    max_val = 9.0


class Program_weight_tensor_meta_y:
    name = "y"
    shape = [16, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
