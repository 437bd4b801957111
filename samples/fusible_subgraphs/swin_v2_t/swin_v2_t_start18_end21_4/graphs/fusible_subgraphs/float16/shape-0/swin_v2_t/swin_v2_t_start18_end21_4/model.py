import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0.clone()
        in_0 = None
        tmp_1 = tmp_0[slice(96, 192, None)]
        tmp_2 = tmp_1.zero_()
        tmp_1 = tmp_2 = None
        return (tmp_0,)
