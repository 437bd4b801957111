import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = torch.chunk(tmp_0, 3, dim=-1)
        tmp_0 = None
        tmp_2 = tmp_1[0]
        tmp_3 = tmp_2.reshape(2, 64, 49, 2, 32)
        tmp_2 = None
        tmp_4 = tmp_3.permute(0, 1, 3, 2, 4)
        tmp_3 = None
        tmp_5 = tmp_1[1]
        tmp_6 = tmp_5.reshape(2, 64, 49, 2, 32)
        tmp_5 = None
        tmp_7 = tmp_6.permute(0, 1, 3, 2, 4)
        tmp_6 = None
        tmp_8 = tmp_1[2]
        tmp_1 = None
        tmp_9 = tmp_8.reshape(2, 64, 49, 2, 32)
        tmp_8 = None
        tmp_10 = tmp_9.permute(0, 1, 3, 2, 4)
        tmp_9 = None
        tmp_11 = tmp_7 * 0.125
        tmp_7 = None
        return (tmp_4, tmp_10, tmp_11)
