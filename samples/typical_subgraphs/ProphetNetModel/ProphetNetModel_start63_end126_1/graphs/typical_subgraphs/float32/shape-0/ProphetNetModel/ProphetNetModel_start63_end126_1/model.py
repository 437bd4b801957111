import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8):
        tmp_0 = torch.nn.functional.dropout(in_0, p=0.1, training=False)
        in_0 = None
        tmp_1 = torch._C._nn.linear(tmp_0, in_1, in_2)
        in_1 = in_2 = tmp_0 = None
        tmp_2 = torch.nn.functional.dropout(tmp_1, p=0.1, training=False)
        tmp_1 = None
        tmp_3 = tmp_2 + in_3
        in_3 = tmp_2 = None
        tmp_4 = torch.nn.functional.layer_norm(tmp_3, (1024,), in_4, in_5, 1e-05)
        in_4 = in_5 = tmp_3 = None
        tmp_5 = torch.nn.functional.embedding(in_6, in_7, 0, None, 2.0, False, False)
        in_6 = in_7 = None
        tmp_6 = torch.ones((2, 16), dtype=torch.int64, device=device(type='cpu'))
        tmp_7 = torch.cumsum(tmp_6, dim=1)
        tmp_8 = tmp_7.type_as(tmp_6)
        tmp_7 = None
        tmp_9 = tmp_8 * tmp_6
        tmp_6 = tmp_8 = None
        tmp_10 = tmp_9.long()
        tmp_9 = None
        tmp_11 = tmp_10 + 0
        tmp_10 = None
        tmp_12 = tmp_11.clamp(0, 511)
        tmp_11 = None
        tmp_13 = torch.nn.functional.embedding(tmp_12, in_8, 0, None, 2.0, False, False)
        in_8 = None
        tmp_14 = torch.arange(1, 512, device=device(type='cpu'))
        tmp_15 = tmp_14.repeat(1, 1)
        tmp_14 = None
        tmp_16 = tmp_15.unsqueeze(1)
        tmp_17 = tmp_16.repeat(1, 511, 1)
        tmp_16 = None
        tmp_18 = tmp_15.unsqueeze(-1)
        tmp_19 = tmp_17 - tmp_18
        tmp_17 = tmp_18 = None
        tmp_20 = tmp_15 - 1
        tmp_21 = torch.cat((tmp_20, tmp_15), dim=-1)
        tmp_20 = None
        tmp_22 = tmp_21.unsqueeze(1)
        tmp_21 = None
        tmp_23 = tmp_22.repeat(1, 511, 1)
        tmp_22 = None
        tmp_24 = tmp_15.unsqueeze(-1)
        tmp_15 = None
        tmp_25 = tmp_23 - tmp_24
        tmp_23 = tmp_24 = None
        tmp_26 = -tmp_19
        tmp_19 = None
        tmp_27 = torch.zeros_like(tmp_26)
        tmp_28 = torch.max(tmp_26, tmp_27)
        tmp_26 = tmp_27 = None
        tmp_29 = torch.lt(tmp_28, 16)
        tmp_30 = tmp_28.float()
        tmp_31 = tmp_30 / 16
        tmp_30 = None
        tmp_32 = torch.log(tmp_31)
        tmp_31 = None
        tmp_33 = tmp_32 / 2.0794415416798357
        tmp_32 = None
        tmp_34 = tmp_33 * 16
        tmp_33 = None
        tmp_35 = 16 + tmp_34
        tmp_34 = None
        tmp_36 = torch.ones_like(tmp_35)
        tmp_37 = tmp_36 * 31
        tmp_36 = None
        tmp_38 = torch.min(tmp_35, tmp_37)
        tmp_35 = tmp_37 = None
        tmp_39 = tmp_38.int()
        tmp_38 = None
        tmp_40 = tmp_28.int()
        tmp_28 = None
        tmp_41 = torch.where(tmp_29, tmp_40, tmp_39)
        tmp_29 = tmp_39 = tmp_40 = None
        tmp_42 = 0 + tmp_41
        tmp_41 = None
        tmp_43 = -tmp_25
        tmp_25 = None
        tmp_44 = torch.zeros_like(tmp_43)
        tmp_45 = torch.max(tmp_43, tmp_44)
        tmp_43 = tmp_44 = None
        tmp_46 = torch.lt(tmp_45, 16)
        tmp_47 = tmp_45.float()
        tmp_48 = tmp_47 / 16
        tmp_47 = None
        tmp_49 = torch.log(tmp_48)
        tmp_48 = None
        tmp_50 = tmp_49 / 2.0794415416798357
        tmp_49 = None
        tmp_51 = tmp_50 * 16
        tmp_50 = None
        tmp_52 = 16 + tmp_51
        tmp_51 = None
        tmp_53 = torch.ones_like(tmp_52)
        tmp_54 = tmp_53 * 31
        tmp_53 = None
        tmp_55 = torch.min(tmp_52, tmp_54)
        tmp_52 = tmp_54 = None
        tmp_56 = tmp_55.int()
        tmp_55 = None
        tmp_57 = tmp_45.int()
        tmp_45 = None
        tmp_58 = torch.where(tmp_46, tmp_57, tmp_56)
        tmp_46 = tmp_56 = tmp_57 = None
        tmp_59 = 0 + tmp_58
        tmp_58 = None
        tmp_60 = tmp_42[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        tmp_42 = None
        tmp_61 = tmp_60.repeat(2, 1, 1)
        tmp_60 = None
        tmp_62 = tmp_59[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        return (tmp_4, tmp_5, tmp_12, tmp_13, tmp_59, tmp_61, tmp_62)
