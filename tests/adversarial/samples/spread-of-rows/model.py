import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = x.mean(-1, keepdim=True)
        b = x.var(-1, keepdim=True, unbiased=False)
        c = x - a
        d = b + 1e-05
        e = torch.rsqrt(d)
        f = c * e
        return (f,)
