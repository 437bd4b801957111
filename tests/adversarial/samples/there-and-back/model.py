import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x.to(torch.bfloat16)
        b = a.float()
        c = b * y
        d = c.half().double()
        e = d + 1.0
        return (e,)
