import torch


class GraphModule(torch.nn.Module):
    def forward(self, mask, x):
        n = mask.sum(-1, keepdim=True)
        k = n == 2
        h = x * 0.5
        z = torch.where(k, h, x)
        y = z * 2.0
        return (y,)
