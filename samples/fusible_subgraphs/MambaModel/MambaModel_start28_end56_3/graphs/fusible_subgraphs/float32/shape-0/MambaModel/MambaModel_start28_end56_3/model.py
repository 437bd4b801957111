import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch.functional.split(in_0, [16, 16, 16], dim=-1)
        in_0 = None
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = in_1 @ tmp_2
        in_1 = tmp_2 = None
        tmp_4 = in_2.float()
        in_2 = None
        tmp_5 = in_3.transpose(1, 2)
        in_3 = None
        tmp_6 = tmp_0[1]
        tmp_7 = tmp_6.transpose(1, 2)
        tmp_6 = None
        tmp_8 = tmp_0[2]
        tmp_0 = None
        tmp_9 = tmp_8.transpose(1, 2)
        tmp_8 = None
        tmp_10 = in_4.float()
        in_4 = None
        tmp_11 = tmp_4.to(torch.float32)
        tmp_4 = None
        tmp_12 = tmp_11[Ellipsis, None]
        tmp_11 = None
        tmp_13 = tmp_3 + tmp_12
        tmp_3 = tmp_12 = None
        tmp_14 = torch._C._nn.softplus(tmp_13)
        tmp_13 = None
        tmp_15 = tmp_7.transpose(1, 2)
        tmp_7 = None
        tmp_16 = tmp_9.transpose(1, 2)
        tmp_9 = None
        tmp_17 = in_5[None, slice(None, None, None), None, slice(None, None, None)]
        in_5 = None
        tmp_18 = tmp_14[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_19 = tmp_17 * tmp_18
        tmp_17 = tmp_18 = None
        tmp_20 = torch.exp(tmp_19)
        tmp_19 = None
        tmp_21 = tmp_14[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_14 = None
        tmp_22 = tmp_15[slice(None, None, None), None, slice(None, None, None), slice(None, None, None)]
        tmp_15 = None
        tmp_23 = tmp_22.float()
        tmp_22 = None
        tmp_24 = tmp_21 * tmp_23
        tmp_21 = tmp_23 = None
        tmp_25 = tmp_5[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_26 = tmp_25.float()
        tmp_25 = None
        tmp_27 = tmp_24 * tmp_26
        tmp_24 = tmp_26 = None
        return (tmp_5, tmp_10, tmp_16, tmp_20, tmp_27)
