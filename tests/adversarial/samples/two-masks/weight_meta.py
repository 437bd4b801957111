class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_m:
    name = "m"
    shape = [32, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 1


class Program_weight_tensor_meta_n:
    name = "n"
    shape = [32, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 1
