copy limits
write model.py
  import torch

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = [1, 2]
          repeat 60 a = [a, a]
          c = a == a
          b = x + y
          return (b,)
