import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, b):
        a = x + b
        c = torch.relu(a)
        return (c,)
