import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = torch.nn.functional.conv1d(x, w, padding=2, dilation=2, groups=8)
        b = torch.sigmoid(a)
        c = a * b
        return (c,)
