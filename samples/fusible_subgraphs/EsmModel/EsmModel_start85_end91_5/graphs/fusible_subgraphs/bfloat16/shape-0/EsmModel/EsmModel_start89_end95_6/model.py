import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0 * 0.5
        tmp_2 = tmp_0 / 1.4142135623730951
        tmp_0 = None
        tmp_3 = torch.erf(tmp_2)
        tmp_2 = None
        tmp_4 = 1.0 + tmp_3
        tmp_3 = None
        tmp_5 = tmp_1 * tmp_4
        tmp_1 = tmp_4 = None
        return (tmp_5,)
