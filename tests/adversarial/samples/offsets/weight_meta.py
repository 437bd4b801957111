class Program_weight_tensor_meta_o:
    name = "o"
    shape = [9]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = [0, 12, 13, 40, 77, 110, 150, 151, 200]
    min_val = 0
    max_val = 200


class Program_weight_tensor_meta_x:
    name = "x"
    shape = [16, 8]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
