import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
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
        tmp_10 = tmp_7 >= 0
        tmp_7 = None
        tmp_11 = tmp_9 & tmp_10
        tmp_9 = tmp_10 = None
        tmp_12 = in_0[tmp_6, tmp_8]
        in_0 = tmp_6 = tmp_8 = None
        tmp_13 = tmp_11 & tmp_12
        tmp_11 = tmp_12 = None
        tmp_14 = tmp_13.expand(2, -1, 32, 32)
        tmp_13 = None
        tmp_15 = in_1.to(device=device(type='cpu'), dtype=torch.bool)
        in_1 = None
        tmp_16 = torch.arange(2, device=device(type='cpu'))
        tmp_17 = torch.arange(1, device=device(type='cpu'))
        tmp_17 = None
        tmp_18 = torch.arange(32, device=device(type='cpu'))
        tmp_19 = tmp_18 + 0
        tmp_18 = None
        tmp_20 = torch.arange(32, device=device(type='cpu'))
        tmp_21 = tmp_20 + 0
        tmp_20 = None
        tmp_22 = tmp_16[slice(None, None, None), None, None, None]
        tmp_16 = None
        tmp_23 = tmp_19[None, None, slice(None, None, None), None]
        tmp_19 = None
        tmp_24 = tmp_21[None, None, None, slice(None, None, None)]
        tmp_21 = None
        tmp_25 = tmp_23.new_ones((), dtype=torch.bool)
        tmp_26 = tmp_23.new_ones((), dtype=torch.bool)
        tmp_27 = tmp_23 - tmp_24
        tmp_28 = torch.abs(tmp_27)
        tmp_27 = None
        tmp_29 = tmp_28 <= 64
        tmp_28 = None
        tmp_30 = tmp_26 & tmp_29
        tmp_26 = tmp_29 = None
        tmp_31 = tmp_23 >= 0
        tmp_23 = None
        tmp_32 = tmp_30 & tmp_31
        tmp_30 = tmp_31 = None
        tmp_33 = tmp_25 & tmp_32
        tmp_25 = tmp_32 = None
        tmp_34 = tmp_15[tmp_22, tmp_24]
        tmp_15 = tmp_22 = tmp_24 = None
        tmp_35 = tmp_33 & tmp_34
        tmp_33 = tmp_34 = None
        tmp_36 = tmp_35.expand(2, -1, 32, 32)
        tmp_35 = None
        tmp_37 = in_2[Ellipsis, None]
        tmp_38 = tmp_37.float()
        tmp_37 = None
        tmp_39 = in_3.to(device=device(type='cpu'), dtype=torch.float32)
        in_3 = None
        tmp_40 = tmp_38 * tmp_39
        tmp_38 = tmp_39 = None
        tmp_41 = torch.cat((tmp_40, tmp_40), dim=-1)
        tmp_40 = None
        tmp_42 = tmp_41.cos()
        tmp_43 = tmp_42 * 1.0
        tmp_42 = None
        tmp_44 = tmp_41.sin()
        tmp_41 = None
        tmp_45 = tmp_44 * 1.0
        tmp_44 = None
        tmp_46 = tmp_43.to(dtype=torch.float32)
        tmp_43 = None
        tmp_47 = tmp_45.to(dtype=torch.float32)
        tmp_45 = None
        tmp_48 = in_2[Ellipsis, None]
        in_2 = None
        tmp_49 = tmp_48.float()
        tmp_48 = None
        tmp_50 = in_4.to(device=device(type='cpu'), dtype=torch.float32)
        in_4 = None
        tmp_51 = tmp_49 * tmp_50
        tmp_49 = tmp_50 = None
        tmp_52 = torch.cat((tmp_51, tmp_51), dim=-1)
        tmp_51 = None
        tmp_53 = tmp_52.cos()
        tmp_54 = tmp_53 * 1.0
        tmp_53 = None
        tmp_55 = tmp_52.sin()
        tmp_52 = None
        tmp_56 = tmp_55 * 1.0
        tmp_55 = None
        tmp_57 = tmp_54.to(dtype=torch.float32)
        tmp_54 = None
        tmp_58 = tmp_56.to(dtype=torch.float32)
        tmp_56 = None
        return (tmp_14, tmp_36, tmp_46, tmp_47, tmp_57, tmp_58)
