import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch.arange(32, device=device(type='cpu'))
        tmp_1 = tmp_0.unsqueeze(0)
        tmp_0 = None
        tmp_2 = torch.nn.functional.embedding(in_0, in_1, 0, None, 2.0, False, False)
        in_0 = in_1 = None
        tmp_3 = torch.nn.functional.layer_norm(tmp_2, (768,), in_2, None, 1e-05)
        in_2 = tmp_2 = None
        tmp_4 = torch.nn.functional.dropout(tmp_3, 0.0, False, False)
        tmp_3 = None
        tmp_5 = in_3.to(device=device(type='cpu'), dtype=torch.bool)
        tmp_6 = torch.arange(2, device=device(type='cpu'))
        tmp_7 = torch.arange(1, device=device(type='cpu'))
        tmp_7 = None
        tmp_8 = torch.arange(32, device=device(type='cpu'))
        tmp_9 = tmp_8 + 0
        tmp_8 = None
        tmp_10 = torch.arange(32, device=device(type='cpu'))
        tmp_11 = tmp_10 + 0
        tmp_10 = None
        tmp_12 = tmp_6[slice(None, None, None), None, None, None]
        tmp_6 = None
        tmp_13 = tmp_9[None, None, slice(None, None, None), None]
        tmp_9 = None
        tmp_14 = tmp_11[None, None, None, slice(None, None, None)]
        tmp_11 = None
        tmp_15 = tmp_13.new_ones((), dtype=torch.bool)
        tmp_16 = tmp_13 >= 0
        tmp_13 = None
        tmp_17 = tmp_15 & tmp_16
        tmp_15 = tmp_16 = None
        tmp_18 = tmp_5[tmp_12, tmp_14]
        tmp_5 = tmp_12 = tmp_14 = None
        tmp_19 = tmp_17 & tmp_18
        tmp_17 = tmp_18 = None
        tmp_20 = tmp_19.expand(2, -1, 32, 32)
        tmp_19 = None
        tmp_21 = in_3.to(device=device(type='cpu'), dtype=torch.bool)
        in_3 = None
        tmp_22 = torch.arange(2, device=device(type='cpu'))
        tmp_23 = torch.arange(1, device=device(type='cpu'))
        tmp_23 = None
        tmp_24 = torch.arange(32, device=device(type='cpu'))
        tmp_25 = tmp_24 + 0
        tmp_24 = None
        tmp_26 = torch.arange(32, device=device(type='cpu'))
        tmp_27 = tmp_26 + 0
        tmp_26 = None
        tmp_28 = tmp_22[slice(None, None, None), None, None, None]
        tmp_22 = None
        tmp_29 = tmp_25[None, None, slice(None, None, None), None]
        tmp_25 = None
        tmp_30 = tmp_27[None, None, None, slice(None, None, None)]
        tmp_27 = None
        tmp_31 = tmp_29.new_ones((), dtype=torch.bool)
        tmp_32 = tmp_29.new_ones((), dtype=torch.bool)
        tmp_33 = tmp_29 - tmp_30
        tmp_34 = torch.abs(tmp_33)
        tmp_33 = None
        tmp_35 = tmp_34 <= 64
        tmp_34 = None
        tmp_36 = tmp_32 & tmp_35
        tmp_32 = tmp_35 = None
        tmp_37 = tmp_29 >= 0
        tmp_29 = None
        tmp_38 = tmp_36 & tmp_37
        tmp_36 = tmp_37 = None
        tmp_39 = tmp_31 & tmp_38
        tmp_31 = tmp_38 = None
        tmp_40 = tmp_21[tmp_28, tmp_30]
        tmp_21 = tmp_28 = tmp_30 = None
        tmp_41 = tmp_39 & tmp_40
        tmp_39 = tmp_40 = None
        tmp_42 = tmp_41.expand(2, -1, 32, 32)
        tmp_41 = None
        tmp_43 = tmp_1[Ellipsis, None]
        tmp_44 = tmp_43.float()
        tmp_43 = None
        tmp_45 = in_4.to(device=device(type='cpu'), dtype=torch.float32)
        in_4 = None
        tmp_46 = tmp_44 * tmp_45
        tmp_44 = tmp_45 = None
        tmp_47 = torch.cat((tmp_46, tmp_46), dim=-1)
        tmp_46 = None
        tmp_48 = tmp_47.cos()
        tmp_49 = tmp_48 * 1.0
        tmp_48 = None
        tmp_50 = tmp_47.sin()
        tmp_47 = None
        tmp_51 = tmp_50 * 1.0
        tmp_50 = None
        tmp_52 = tmp_49.to(dtype=torch.float32)
        tmp_49 = None
        tmp_53 = tmp_51.to(dtype=torch.float32)
        tmp_51 = None
        tmp_54 = tmp_1[Ellipsis, None]
        tmp_1 = None
        tmp_55 = tmp_54.float()
        tmp_54 = None
        tmp_56 = in_5.to(device=device(type='cpu'), dtype=torch.float32)
        in_5 = None
        tmp_57 = tmp_55 * tmp_56
        tmp_55 = tmp_56 = None
        tmp_58 = torch.cat((tmp_57, tmp_57), dim=-1)
        tmp_57 = None
        tmp_59 = tmp_58.cos()
        tmp_60 = tmp_59 * 1.0
        tmp_59 = None
        tmp_61 = tmp_58.sin()
        tmp_58 = None
        tmp_62 = tmp_61 * 1.0
        tmp_61 = None
        return (tmp_4, tmp_20, tmp_42, tmp_52, tmp_53, tmp_60, tmp_62)
