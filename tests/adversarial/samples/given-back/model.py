import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x.t()
        b = x + y
        c = torch.relu(b)
        return (x, c, a,)
