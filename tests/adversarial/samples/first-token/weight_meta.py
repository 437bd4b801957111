class Program_weight_tensor_meta_mask:
    name = "mask"
    shape = [64, 256]
    dtype = "torch.bool"
    device = "cpu"
    mean = None
    std = None
    data = None


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [64, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
