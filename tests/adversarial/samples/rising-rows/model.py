import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        p = x[:, 1:]
        q = x[:, :-1]
        c = p > q
        k = c.all(-1, keepdim=True)
        h = x * 0.5
        y = torch.where(k, x, h)
        return (y,)
