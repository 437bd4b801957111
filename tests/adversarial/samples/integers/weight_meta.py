class Program_weight_tensor_meta_a:
    name = "a"
    shape = [16, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -50
    max_val = 50


class Program_weight_tensor_meta_b:
    name = "b"
    shape = [16, 64]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 1
    max_val = 9
