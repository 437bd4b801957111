class Program_weight_tensor_meta_a:
    name = "a"
    shape = [48, 12]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -500
    max_val = 500


class Program_weight_tensor_meta_b:
    name = "b"
    shape = [48, 12]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 1
    max_val = 90
