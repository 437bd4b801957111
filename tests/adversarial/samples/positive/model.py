import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.relu(x)
        b = a * y
        c = b + x
        return (c,)
