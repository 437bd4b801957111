import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.permute(in_0, [0, 2, 3, 1])
        in_0 = None
        return (tmp_0,)
