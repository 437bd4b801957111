import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.nn.functional.interpolate(x, scale_factor=2.0, mode='nearest')
        b = torch.flip(a, [3])
        c = torch.roll(b, 5, 3)
        d = c * 2.0
        return (d,)
