import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * y
        b = torch.nan_to_num(a, nan=0.0, posinf=1.0, neginf=-1.0)
        c = torch.isinf(y)
        d = b.masked_fill(c, 0.0)
        e = d + x
        return (e,)
