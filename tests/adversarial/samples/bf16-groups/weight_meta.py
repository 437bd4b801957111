class Program_weight_tensor_meta_x:
    name = "x"
    shape = [2, 32, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.3
    std = 1.0
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [32]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 1.0
    std = 0.1
    data = None


class Program_weight_tensor_meta_b:
    name = "b"
    shape = [32]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0
    std = 0.1
    data = None
