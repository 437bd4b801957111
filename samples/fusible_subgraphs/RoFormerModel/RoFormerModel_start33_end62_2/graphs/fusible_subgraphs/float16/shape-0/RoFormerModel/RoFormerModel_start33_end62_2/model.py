import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
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
        tmp_5 = in_4.chunk(2, dim=-1)
        tmp_6 = tmp_5[0]
        tmp_7 = torch.stack([tmp_6, tmp_6], dim=-1)
        tmp_6 = None
        tmp_8 = tmp_7.reshape_as(in_4)
        tmp_7 = None
        tmp_9 = tmp_5[1]
        tmp_5 = None
        tmp_10 = torch.stack([tmp_9, tmp_9], dim=-1)
        tmp_9 = None
        tmp_11 = tmp_10.reshape_as(in_4)
        in_4 = tmp_10 = None
        tmp_12 = in_5[Ellipsis, slice(1, None, 2)]
        tmp_13 = -tmp_12
        tmp_12 = None
        tmp_14 = in_5[Ellipsis, slice(None, None, 2)]
        tmp_15 = torch.stack([tmp_13, tmp_14], dim=-1)
        tmp_13 = tmp_14 = None
        tmp_16 = tmp_15.reshape_as(in_5)
        tmp_15 = None
        tmp_17 = in_5 * tmp_11
        in_5 = None
        tmp_18 = tmp_16 * tmp_8
        tmp_16 = None
        tmp_19 = tmp_17 + tmp_18
        tmp_17 = tmp_18 = None
        tmp_20 = tmp_1[Ellipsis, slice(1, None, 2)]
        tmp_21 = -tmp_20
        tmp_20 = None
        tmp_22 = tmp_1[Ellipsis, slice(None, None, 2)]
        tmp_23 = torch.stack([tmp_21, tmp_22], dim=-1)
        tmp_21 = tmp_22 = None
        tmp_24 = tmp_23.reshape_as(tmp_1)
        tmp_23 = None
        tmp_25 = tmp_1 * tmp_11
        tmp_1 = tmp_11 = None
        tmp_26 = tmp_24 * tmp_8
        tmp_8 = tmp_24 = None
        tmp_27 = tmp_25 + tmp_26
        tmp_25 = tmp_26 = None
        tmp_28 = tmp_27.transpose(-1, -2)
        tmp_27 = None
        return (tmp_4, tmp_19, tmp_28)
