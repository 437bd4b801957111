import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.relu(x)
        b = x.sum(0)
        c = torch.cat([x, y], dim=0)
        d = c * b
        return (a, d,)
