import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        k = x == y
        a = x * y
        b = x * 2.0
        z = torch.where(k, b, a)
        return (z,)
