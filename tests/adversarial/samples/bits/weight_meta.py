class Program_weight_tensor_meta_a:
    name = "a"
    shape = [64, 16]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -1000
    max_val = 1000


class Program_weight_tensor_meta_b:
    name = "b"
    shape = [64, 16]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -1000
    max_val = 1000
