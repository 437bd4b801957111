import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, v):
        a = torch.pow(x, 3)
        b = v.abs() + 0.5
        c = torch.sqrt(b)
        d = a / c
        e = d / 3.0
        return (e,)
