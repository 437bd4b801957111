import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x > 1e+30
        b = x * y
        c = b.masked_fill(a, float('nan'))
        d = c + y
        return (d,)
