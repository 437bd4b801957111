import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x + y
        b = torch.exp(a)
        c = y + x
        d = torch.exp(c)
        e = b * d
        f = torch.log(e.abs() + 1.0)
        g = x - y
        h = torch.relu(e)
        return (g, h,)
