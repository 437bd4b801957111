import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, m, n):
        a = m + n
        k = a > 0
        f = k.to(torch.float32)
        s = f.sum(-1, keepdim=True)
        t = torch.clamp(s, min=1.0)
        p = x * f
        u = p.sum(-1, keepdim=True)
        y = u / t
        return (y,)
