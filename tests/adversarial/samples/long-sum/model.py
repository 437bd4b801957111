import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = x * w
        b = a.sum(1)
        return (b,)
