import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = x * 2.0
        b = a + w
        c = torch.relu(b)
        return (c,)
