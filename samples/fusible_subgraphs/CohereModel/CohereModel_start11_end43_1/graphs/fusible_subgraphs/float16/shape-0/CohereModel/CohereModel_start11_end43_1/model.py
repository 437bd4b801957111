import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.arange(2, device=device(type='cpu'))
        tmp_1 = torch.arange(1, device=device(type='cpu'))
        tmp_1 = None
        tmp_2 = torch.arange(32, device=device(type='cpu'))
        tmp_3 = tmp_2 + 0
        tmp_2 = None
        tmp_4 = torch.arange(32, device=device(type='cpu'))
        tmp_5 = tmp_4 + 0
        tmp_4 = None
        tmp_6 = tmp_0[slice(None, None, None), None, None, None]
        tmp_0 = None
        tmp_7 = tmp_3[None, None, slice(None, None, None), None]
        tmp_3 = None
        tmp_8 = tmp_5[None, None, None, slice(None, None, None)]
        tmp_5 = None
        tmp_9 = tmp_7.new_ones((), dtype=torch.bool)
        tmp_10 = in_0[tmp_6, tmp_7]
        tmp_11 = in_0[tmp_6, tmp_8]
        in_0 = None
        tmp_12 = tmp_10 == tmp_11
        tmp_10 = tmp_11 = None
        tmp_13 = tmp_9 & tmp_12
        tmp_9 = tmp_12 = None
        tmp_14 = in_1[tmp_6, tmp_7]
        tmp_7 = None
        tmp_15 = in_1[tmp_6, tmp_8]
        in_1 = tmp_6 = tmp_8 = None
        tmp_16 = tmp_15 <= tmp_14
        tmp_14 = tmp_15 = None
        tmp_17 = tmp_13 & tmp_16
        tmp_13 = tmp_16 = None
        tmp_18 = tmp_17.expand(2, -1, 32, 32)
        tmp_17 = None
        tmp_19 = in_2[Ellipsis, None]
        in_2 = None
        tmp_20 = tmp_19.float()
        tmp_19 = None
        tmp_21 = in_3.to(device=device(type='cpu'), dtype=torch.float32)
        in_3 = None
        tmp_22 = tmp_20 * tmp_21
        tmp_20 = tmp_21 = None
        tmp_23 = torch.repeat_interleave(tmp_22, 2, dim=-1)
        tmp_22 = None
        tmp_24 = tmp_23.cos()
        tmp_25 = tmp_24 * 1.0
        tmp_24 = None
        tmp_26 = tmp_23.sin()
        tmp_23 = None
        tmp_27 = tmp_26 * 1.0
        tmp_26 = None
        tmp_28 = tmp_25.to(dtype=torch.float32)
        tmp_25 = None
        tmp_29 = tmp_27.to(dtype=torch.float32)
        tmp_27 = None
        return (tmp_18, tmp_28, tmp_29)
