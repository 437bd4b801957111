import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.cumsum(x, dim=1)
        b = a * 0.5
        return (b,)
