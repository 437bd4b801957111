import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y, w):
        a = x * w
        b = y * w
        c = a + b
        d = torch.relu(c)
        return (d,)
