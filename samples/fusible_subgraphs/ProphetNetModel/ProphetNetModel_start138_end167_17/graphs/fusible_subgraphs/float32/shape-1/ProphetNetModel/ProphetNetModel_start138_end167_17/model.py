import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0[slice(None, 16, None), slice(None, 16, None)]
        in_0 = None
        tmp_1 = tmp_0[None, None, slice(None, None, None), slice(None, None, None)]
        tmp_0 = None
        tmp_2 = tmp_1.expand((2, 16, 16, 16))
        tmp_1 = None
        tmp_3 = tmp_2.to(torch.float32)
        tmp_2 = None
        tmp_4 = torch.arange(512, device=device(type='cpu'))
        tmp_5 = tmp_4.view(1, 512, 1)
        tmp_4 = None
        tmp_6 = torch.arange(512, device=device(type='cpu'))
        tmp_7 = tmp_6.view(1, 1, 512)
        tmp_6 = None
        tmp_8 = torch.arange(2, device=device(type='cpu'))
        tmp_9 = -tmp_8
        tmp_8 = None
        tmp_10 = tmp_9 + 1
        tmp_9 = None
        tmp_11 = tmp_10.view(2, 1, 1)
        tmp_10 = None
        tmp_12 = tmp_7 - tmp_5
        tmp_13 = tmp_12 >= tmp_11
        tmp_11 = tmp_12 = None
        tmp_14 = tmp_7 != 0
        tmp_15 = tmp_13 & tmp_14
        tmp_13 = tmp_14 = None
        tmp_16 = tmp_5 != tmp_7
        tmp_5 = tmp_7 = None
        tmp_17 = tmp_16.expand(2, 512, 512)
        tmp_16 = None
        tmp_18 = torch.full((), -65504.0, dtype=torch.float32, device=device(type='cpu'))
        tmp_19 = torch.zeros((), dtype=torch.float32, device=device(type='cpu'))
        tmp_20 = torch.where(tmp_15, tmp_18, tmp_19)
        tmp_15 = None
        tmp_21 = torch.where(tmp_17, tmp_18, tmp_19)
        tmp_17 = tmp_18 = tmp_19 = None
        tmp_22 = torch.cat([tmp_20, tmp_21], dim=2)
        tmp_20 = tmp_21 = None
        tmp_23 = tmp_22[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        tmp_24 = tmp_22[slice(None, None, None), slice(None, 16, None), slice(512, 528, None)]
        tmp_22 = None
        tmp_25 = torch.cat([tmp_23, tmp_24], dim=-1)
        tmp_23 = tmp_24 = None
        tmp_26 = tmp_25[None, None, slice(None, None, None), slice(None, None, None), slice(None, None, None)]
        tmp_25 = None
        tmp_27 = tmp_26.expand((2, 16, 2, 16, 32))
        tmp_26 = None
        tmp_28 = tmp_27.to(torch.float32)
        tmp_27 = None
        return (tmp_3, tmp_28)
