import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self):
        tmp_0 = torch.arange(1, 15, device=device(type='cpu'))
        tmp_1 = tmp_0.to(torch.float32)
        tmp_0 = None
        tmp_2 = tmp_1.unsqueeze(1)
        tmp_1 = None
        tmp_3 = tmp_2.repeat(1, 1, 14)
        tmp_2 = None
        tmp_4 = torch.arange(1, 15, device=device(type='cpu'))
        tmp_5 = tmp_4.to(torch.float32)
        tmp_4 = None
        tmp_6 = tmp_5.repeat(1, 14, 1)
        tmp_5 = None
        tmp_7 = tmp_3[slice(None, None, None), slice(-1, None, None), slice(None, None, None)]
        tmp_8 = tmp_7 + 1e-06
        tmp_7 = None
        tmp_9 = tmp_3 / tmp_8
        tmp_3 = tmp_8 = None
        tmp_10 = tmp_9 * 6.283185307179586
        tmp_9 = None
        tmp_11 = tmp_6[slice(None, None, None), slice(None, None, None), slice(-1, None, None)]
        tmp_12 = tmp_11 + 1e-06
        tmp_11 = None
        tmp_13 = tmp_6 / tmp_12
        tmp_6 = tmp_12 = None
        tmp_14 = tmp_13 * 6.283185307179586
        tmp_13 = None
        tmp_15 = torch.arange(32, device=device(type='cpu'))
        tmp_16 = tmp_15.to(torch.float32)
        tmp_15 = None
        tmp_17 = torch.div(tmp_16, 2, rounding_mode='floor')
        tmp_16 = None
        tmp_18 = 2 * tmp_17
        tmp_17 = None
        tmp_19 = tmp_18 / 32
        tmp_18 = None
        tmp_20 = 10000 ** tmp_19
        tmp_19 = None
        tmp_21 = tmp_14[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_14 = None
        tmp_22 = tmp_21 / tmp_20
        tmp_21 = None
        tmp_23 = tmp_10[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_10 = None
        tmp_24 = tmp_23 / tmp_20
        tmp_20 = tmp_23 = None
        tmp_25 = tmp_22[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(0, None, 2)]
        tmp_26 = tmp_25.sin()
        tmp_25 = None
        tmp_27 = tmp_22[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_22 = None
        tmp_28 = tmp_27.cos()
        tmp_27 = None
        tmp_29 = torch.stack([tmp_26, tmp_28], dim=4)
        tmp_26 = tmp_28 = None
        tmp_30 = tmp_29.flatten(3)
        tmp_29 = None
        tmp_31 = tmp_24[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(0, None, 2)]
        tmp_32 = tmp_31.sin()
        tmp_31 = None
        tmp_33 = tmp_24[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_24 = None
        tmp_34 = tmp_33.cos()
        tmp_33 = None
        tmp_35 = torch.stack([tmp_32, tmp_34], dim=4)
        tmp_32 = tmp_34 = None
        tmp_36 = tmp_35.flatten(3)
        tmp_35 = None
        tmp_37 = torch.cat((tmp_36, tmp_30), dim=3)
        tmp_30 = tmp_36 = None
        tmp_38 = tmp_37.permute(0, 3, 1, 2)
        tmp_37 = None
        tmp_39 = tmp_38.to(torch.float32)
        tmp_38 = None
        tmp_40 = tmp_39.to(torch.bfloat16)
        tmp_39 = None
        return (tmp_40,)
