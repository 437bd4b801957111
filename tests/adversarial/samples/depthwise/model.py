import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w, b):
        a = torch.nn.functional.conv2d(x, w, b, padding=1, groups=8)
        c = torch.relu(a)
        return (c,)
