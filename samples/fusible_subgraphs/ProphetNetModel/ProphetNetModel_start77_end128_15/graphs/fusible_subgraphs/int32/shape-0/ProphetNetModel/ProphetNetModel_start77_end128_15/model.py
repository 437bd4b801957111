import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self):
        tmp_0 = torch.arange(1, 512, device=device(type='cpu'))
        tmp_1 = tmp_0.repeat(1, 1)
        tmp_0 = None
        tmp_2 = tmp_1.unsqueeze(1)
        tmp_3 = tmp_2.repeat(1, 511, 1)
        tmp_2 = None
        tmp_4 = tmp_1.unsqueeze(-1)
        tmp_5 = tmp_3 - tmp_4
        tmp_3 = tmp_4 = None
        tmp_6 = tmp_1 - 1
        tmp_7 = torch.cat((tmp_6, tmp_1), dim=-1)
        tmp_6 = None
        tmp_8 = tmp_7.unsqueeze(1)
        tmp_7 = None
        tmp_9 = tmp_8.repeat(1, 511, 1)
        tmp_8 = None
        tmp_10 = tmp_1.unsqueeze(-1)
        tmp_1 = None
        tmp_11 = tmp_9 - tmp_10
        tmp_9 = tmp_10 = None
        tmp_12 = -tmp_5
        tmp_5 = None
        tmp_13 = torch.zeros_like(tmp_12)
        tmp_14 = torch.max(tmp_12, tmp_13)
        tmp_12 = tmp_13 = None
        tmp_15 = torch.lt(tmp_14, 16)
        tmp_16 = tmp_14.float()
        tmp_17 = tmp_16 / 16
        tmp_16 = None
        tmp_18 = torch.log(tmp_17)
        tmp_17 = None
        tmp_19 = tmp_18 / 2.0794415416798357
        tmp_18 = None
        tmp_20 = tmp_19 * 16
        tmp_19 = None
        tmp_21 = 16 + tmp_20
        tmp_20 = None
        tmp_22 = torch.ones_like(tmp_21)
        tmp_23 = tmp_22 * 31
        tmp_22 = None
        tmp_24 = torch.min(tmp_21, tmp_23)
        tmp_21 = tmp_23 = None
        tmp_25 = tmp_24.int()
        tmp_24 = None
        tmp_26 = tmp_14.int()
        tmp_14 = None
        tmp_27 = torch.where(tmp_15, tmp_26, tmp_25)
        tmp_15 = tmp_25 = tmp_26 = None
        tmp_28 = 0 + tmp_27
        tmp_27 = None
        tmp_29 = -tmp_11
        tmp_11 = None
        tmp_30 = torch.zeros_like(tmp_29)
        tmp_31 = torch.max(tmp_29, tmp_30)
        tmp_29 = tmp_30 = None
        tmp_32 = torch.lt(tmp_31, 16)
        tmp_33 = tmp_31.float()
        tmp_34 = tmp_33 / 16
        tmp_33 = None
        tmp_35 = torch.log(tmp_34)
        tmp_34 = None
        tmp_36 = tmp_35 / 2.0794415416798357
        tmp_35 = None
        tmp_37 = tmp_36 * 16
        tmp_36 = None
        tmp_38 = 16 + tmp_37
        tmp_37 = None
        tmp_39 = torch.ones_like(tmp_38)
        tmp_40 = tmp_39 * 31
        tmp_39 = None
        tmp_41 = torch.min(tmp_38, tmp_40)
        tmp_38 = tmp_40 = None
        tmp_42 = tmp_41.int()
        tmp_41 = None
        tmp_43 = tmp_31.int()
        tmp_31 = None
        tmp_44 = torch.where(tmp_32, tmp_43, tmp_42)
        tmp_32 = tmp_42 = tmp_43 = None
        tmp_45 = 0 + tmp_44
        tmp_44 = None
        tmp_46 = tmp_28[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        tmp_28 = None
        tmp_47 = tmp_46.repeat(2, 1, 1)
        tmp_46 = None
        tmp_48 = tmp_45[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        tmp_49 = tmp_45[slice(None, None, None), slice(None, 16, None), slice(512, 528, None)]
        tmp_45 = None
        tmp_50 = torch.cat([tmp_48, tmp_49], 2)
        tmp_48 = tmp_49 = None
        return (tmp_47, tmp_50)
