import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        c = torch.nn.functional.pad(a, (0, 3))
        return (c,)
