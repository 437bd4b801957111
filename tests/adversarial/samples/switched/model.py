import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        r = x[0:1, 0:1]
        k = r == 0.25
        n = -x
        z = torch.where(k, n, x)
        y = z * 2.0
        return (y,)
