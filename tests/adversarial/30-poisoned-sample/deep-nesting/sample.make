copy limits
write model.py
  import torch

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = x + y
          b = (
          repeat 10000 (
          a
          repeat 10000 )
          )
          return (b,)
