import torch


class GraphModule(torch.nn.Module):
    def forward(self, i, h, m):
        a = i * h
        b = m + i
        c = a / 3
        d = b.to(torch.float64) * 0.1
        e = c.float() + d
        f = (i / 7).to(torch.bfloat16)
        return (a, b, e, f,)
