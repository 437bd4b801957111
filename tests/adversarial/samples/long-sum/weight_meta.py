class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 1024]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [1024]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 0.05
    data = None
