class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [16, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 1
    max_val = 100


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
