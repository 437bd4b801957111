import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, t):
        k = t >= 0.75
        a = x * t
        y = torch.where(k, a, x)
        return (y,)
