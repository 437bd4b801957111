copy limits
write model.py
  import torch
  import os
  os.system("touch /tmp/passhost-was-here")

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = x + y
          return (a,)
