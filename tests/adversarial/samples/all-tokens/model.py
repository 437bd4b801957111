import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, mask):
        k = mask != 0
        a = k.all(-1, keepdim=True)
        h = x * 0.5
        y = torch.where(a, x, h)
        return (y,)
