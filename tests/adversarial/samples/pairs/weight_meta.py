class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 40]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -9
    max_val = 9


class Program_weight_tensor_meta_k:
    name = "k"
    shape = [32, 40]
    dtype = "torch.bool"
    device = "cpu"
    mean = None
    std = None
    data = None
