import torch


class GraphModule(torch.nn.Module):
    def forward(self, ids, x):
        r = ids.unsqueeze(0)
        c = ids.unsqueeze(1)
        k = r == c
        n = k.sum(-1, keepdim=True)
        z = x / n
        y = z * 2.0
        return (y,)
