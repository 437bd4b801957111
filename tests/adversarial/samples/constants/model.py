import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.arange(24, dtype=torch.float32)
        b = a * 0.5
        c = torch.sin(b)
        d = torch.ones(24) * 3.0
        e = d - 1.0
        f = x * e
        g = f + c
        return (g,)
