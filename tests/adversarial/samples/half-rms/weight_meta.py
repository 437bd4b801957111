class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 256]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [256]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.0
    std = 0.1
    data = None
