import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * 1.0
        b = a - 0.0
        c = b + 0.0
        d = torch.reciprocal(c)
        e = y / 1.0
        f = torch.maximum(d, e)
        g = -(-f)
        return (d, g,)
