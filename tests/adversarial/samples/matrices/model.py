import torch


class GraphModule(torch.nn.Module):
    def forward(self, a, b, v):
        c = torch.mm(a, b)
        d = torch.mv(c, v)
        e = torch.tanh(c)
        return (d, e,)
