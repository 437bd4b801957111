import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * y
        b = torch.tanh(a)
        c = b.transpose(0, 1)
        d = b.view(-1)
        e = b[2:20]
        return (c, b, d, e,)
