import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_1 = in_2 = None
        tmp_1 = in_3 / 8.0
        in_3 = None
        tmp_2 = tmp_1.view(2, 48, 16, 64)
        tmp_1 = None
        tmp_3 = tmp_2.transpose(1, 2)
        tmp_2 = None
        tmp_4 = tmp_3.contiguous()
        tmp_3 = None
        tmp_5 = in_4.view(2, -1, 16, 64)
        in_4 = None
        tmp_6 = tmp_5.transpose(1, 2)
        tmp_5 = None
        tmp_7 = tmp_6.contiguous()
        tmp_6 = None
        tmp_8 = tmp_0.view(2, -1, 16, 64)
        tmp_0 = None
        tmp_9 = tmp_8.transpose(1, 2)
        tmp_8 = None
        tmp_10 = tmp_9.contiguous()
        tmp_9 = None
        tmp_11 = tmp_4.reshape(2, 16, -1, 64)
        tmp_4 = None
        tmp_12 = tmp_7.reshape(2, 16, -1, 64)
        tmp_7 = None
        tmp_13 = tmp_10.reshape(2, 16, -1, 64)
        tmp_10 = None
        tmp_14 = in_0.chunk(3, dim=1)
        in_0 = None
        tmp_15 = tmp_11.chunk(3, dim=2)
        tmp_11 = None
        tmp_16 = tmp_12.chunk(3, dim=2)
        tmp_12 = None
        tmp_17 = tmp_13.chunk(3, dim=2)
        tmp_13 = None
        tmp_18 = tmp_16[0]
        tmp_19 = tmp_18.transpose(2, 3)
        tmp_20 = tmp_14[0]
        tmp_21 = tmp_14[1]
        tmp_22 = tmp_14[2]
        tmp_14 = None
        tmp_23 = tmp_15[0]
        tmp_24 = tmp_15[1]
        tmp_25 = tmp_15[2]
        tmp_15 = None
        tmp_26 = tmp_16[1]
        tmp_27 = tmp_16[2]
        tmp_16 = None
        tmp_28 = tmp_17[0]
        tmp_29 = tmp_17[1]
        tmp_30 = tmp_17[2]
        tmp_17 = None
        return (tmp_20, tmp_21, tmp_22, tmp_23, tmp_24, tmp_25, tmp_18, tmp_26, tmp_27, tmp_28, tmp_29, tmp_30, tmp_19)
