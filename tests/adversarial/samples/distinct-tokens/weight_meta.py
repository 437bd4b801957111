class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [24]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = [22, 13, 9, 21, 18, 10, 4, 12, 6, 3, 23, 5, 15, 2, 17, 1, 7, 14, 0, 16, 20, 11, 8, 19]
    min_val = 0
    max_val = 23


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [24, 16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
