class Program_weight_tensor_meta_x:
    name = "x"
    shape = [32, 96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0
    std = 4.0
    data = None


class Program_weight_tensor_meta_y:
    name = "y"
    shape = [32, 96]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
