class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [24]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]
    min_val = 0
    max_val = 23


class Program_weight_tensor_meta_table:
    name = "table"
    shape = [50, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
