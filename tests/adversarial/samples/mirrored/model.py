import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        t = x.t()
        c = x == t
        k = c.all()
        s = x + t
        y = torch.where(k, x, s)
        return (y,)
