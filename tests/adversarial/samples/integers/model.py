import torch


class GraphModule(torch.nn.Module):
    def forward(self, a, b):
        c = a * b
        d = c + a
        e = d // b
        return (e,)
