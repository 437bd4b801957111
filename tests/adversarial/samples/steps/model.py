import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = x * 10.0
        b = torch.round(a)
        y = b * 0.1
        return (y,)
