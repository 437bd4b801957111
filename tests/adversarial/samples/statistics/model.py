import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = x.sum(-1)
        b = x.amax(-1)
        c = x.argmin(-1)
        d = x.mean(-1, keepdim=True)
        e = x - d
        f = (e * e).sum(-1)
        g = x > d
        return (a, b, c, e, f, g,)
