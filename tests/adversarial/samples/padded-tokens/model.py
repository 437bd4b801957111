import torch


class GraphModule(torch.nn.Module):
    def forward(self, mask, x):
        k = mask == 0
        y = x.masked_fill(k, 0.0)
        return (y,)
