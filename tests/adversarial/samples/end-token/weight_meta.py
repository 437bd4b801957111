class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [8, 32]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 50256


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [8, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
