class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [24]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 49


class Program_weight_tensor_meta_table:
    name = "table"
    shape = [50, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
