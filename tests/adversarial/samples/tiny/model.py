import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.tanh(x)
        b = torch.sin(x)
        c = a * y
        d = c + b
        return (d,)
