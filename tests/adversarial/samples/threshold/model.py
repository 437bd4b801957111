import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x >= 0.0
        b = a.to(torch.float32)
        c = b * y
        d = c + y
        return (d,)
