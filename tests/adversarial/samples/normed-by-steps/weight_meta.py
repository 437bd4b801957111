class Program_weight_tensor_meta_x:
    name = "x"
    shape = [2, 16, 8, 8]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_m:
    name = "m"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.2
    std = 0.3
    data = None


class Program_weight_tensor_meta_v:
    name = "v"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0
    std = 0.2
    data = None


class Program_weight_tensor_meta_w:
    name = "w"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0
    std = 0.1
    data = None


class Program_weight_tensor_meta_b:
    name = "b"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
