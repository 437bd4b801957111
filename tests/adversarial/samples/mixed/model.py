import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y, w):
        a = torch.lerp(x, y, w)
        b = a * 0.5
        return (b,)
