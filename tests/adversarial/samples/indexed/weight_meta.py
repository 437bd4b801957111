class Program_weight_tensor_meta_table:
    name = "table"
    shape = [60, 24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_ids:
    name = "ids"
    shape = [32]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 59


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_cols:
    name = "cols"
    shape = [32, 5]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = 0
    max_val = 23
