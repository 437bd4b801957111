copy limits
write model.py
  import torch

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = (1, 2)
          repeat 40 a = a + a
          b = x + y
          return (b,)
