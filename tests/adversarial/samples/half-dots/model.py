import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * y
        b = a.sum(-1)
        c = torch.sigmoid(b)
        return (b, c,)
