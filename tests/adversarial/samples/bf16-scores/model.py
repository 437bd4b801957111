import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * 0.125
        b = a + y
        c = torch.softmax(b, dim=-1)
        return (c,)
