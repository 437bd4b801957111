import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * 0.0001
        b = a * y
        c = b * 0.1
        return (c,)
