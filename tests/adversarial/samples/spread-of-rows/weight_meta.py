class Program_weight_tensor_meta_x:
    name = "x"
    shape = [48, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.5
    std = 2.0
    data = None
