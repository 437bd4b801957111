import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        p = torch.isnan(x)
        q = torch.isnan(y)
        a = torch.where(p, y, x)
        k = p & q
        z = a.masked_fill(k, 0.0)
        return (z,)
