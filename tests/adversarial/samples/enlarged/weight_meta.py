class Program_weight_tensor_meta_x:
    name = "x"
    shape = [2, 4, 7, 9]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
