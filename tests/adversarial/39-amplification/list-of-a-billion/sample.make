copy limits
write model.py
  import torch

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = [None] * 1000000000
          b = x + y
          return (b,)
