import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = x.float()
        b = a.pow(2).mean(-1, keepdim=True)
        c = b + 1e-06
        d = torch.rsqrt(c)
        e = a * d
        f = e.to(torch.float16)
        g = w * f
        return (g,)
