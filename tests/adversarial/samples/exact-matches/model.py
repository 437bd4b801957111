import torch


class GraphModule(torch.nn.Module):
    def forward(self, p, t, x):
        a = p == t
        k = a.all(-1, keepdim=True)
        n = -x
        y = torch.where(k, x, n)
        return (y,)
