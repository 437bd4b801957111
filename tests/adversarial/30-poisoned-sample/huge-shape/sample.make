copy limits
write weight_meta.py
  class Program_weight_tensor_meta_x:
      name = "x"
      shape = [1073741824, 1073741824]
      dtype = "torch.float32"
      device = "cpu"
      mean = 0.0
      std = 1.0
      data = None

  class Program_weight_tensor_meta_y:
      name = "y"
      shape = [4611686018427387904, 4]
      dtype = "torch.float32"
      device = "cpu"
      mean = 0.0
      std = 1.0
      data = None
