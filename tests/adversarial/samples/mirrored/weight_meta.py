class Program_weight_tensor_meta_x:
    name = "x"
    shape = [40, 40]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
