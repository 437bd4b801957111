import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x > 0.0
        b = y <= 1.0
        c = a & b
        d = ~c
        e = torch.isnan(x)
        f = d | e
        return (d, f,)
