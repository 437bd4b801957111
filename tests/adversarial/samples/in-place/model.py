import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * y
        b = a.add_(y)
        c = torch.relu_(a)
        d = c * 0.5
        e = d[:, 8:24]
        f = e.mul_(3.0)
        g = d + a
        return (g, a,)
