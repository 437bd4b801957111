import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y, z):
        a = x * y
        b = a + z
        c = b * b - x
        return (c,)
