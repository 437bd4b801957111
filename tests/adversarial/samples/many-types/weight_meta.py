class Program_weight_tensor_meta_i:
    name = "i"
    shape = [24, 32]
    dtype = "torch.int32"
    device = "cpu"
    mean = None
    std = None
    data = None
    min_val = -40
    max_val = 40


class Program_weight_tensor_meta_h:
    name = "h"
    shape = [24, 32]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_m:
    name = "m"
    shape = [24, 32]
    dtype = "torch.bool"
    device = "cpu"
    mean = None
    std = None
    data = None
