import torch


class GraphModule(torch.nn.Module):
    def forward(self, ids, x):
        a = ids > 0
        b = a.to(torch.float32)
        c = x * b
        d = c + x
        return (d,)
