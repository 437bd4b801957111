import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0.view((2, 32, -1, 64))
        in_0 = None
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_0 = None
        tmp_2 = torch._C._nn.linear(in_1, in_2, in_3)
        in_1 = in_2 = in_3 = None
        tmp_3 = tmp_2.view((2, 32, -1, 64))
        tmp_2 = None
        tmp_4 = tmp_3.transpose(1, 2)
        tmp_3 = None
        tmp_5 = in_4 / 2.8284271247461903
        in_4 = None
        tmp_6 = tmp_1 / 2.8284271247461903
        tmp_1 = None
        tmp_7 = tmp_6.transpose(-1, -2)
        tmp_6 = None
        return (tmp_4, tmp_5, tmp_7)
