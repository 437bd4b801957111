import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, hot):
        k = hot == 0
        a = x.masked_fill(k, 0.0)
        y = a.sum(-1)
        return (y,)
