import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = in_2.view((2, 32, 16, 64))
        in_2 = None
        tmp_2 = in_3.view((2, 32, 16, 64))
        in_3 = None
        tmp_3 = tmp_0.view((2, 32, 16, 64))
        tmp_0 = None
        tmp_4 = tmp_3.permute(0, 2, 1, 3)
        tmp_3 = None
        tmp_5 = in_4.repeat(1, 1, 1)
        in_4 = None
        tmp_6 = in_5.unsqueeze(-1)
        in_5 = None
        tmp_7 = tmp_6.repeat(1, 1, 64)
        tmp_6 = None
        tmp_8 = torch.gather(tmp_5, 1, tmp_7)
        tmp_5 = tmp_7 = None
        tmp_9 = tmp_8.to(torch.float32)
        tmp_8 = None
        tmp_10 = torch.functional.split(tmp_9, 32, dim=-1)
        tmp_9 = None
        tmp_11 = tmp_2[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, 64, None)]
        tmp_12 = tmp_2[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(64, None, None)]
        tmp_2 = None
        tmp_13 = tmp_1[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, 64, None)]
        tmp_14 = tmp_1[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(64, None, None)]
        tmp_1 = None
        tmp_15 = tmp_10[0]
        tmp_16 = tmp_15[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_17 = torch.repeat_interleave(tmp_16, 2, 3)
        tmp_16 = None
        tmp_18 = tmp_10[1]
        tmp_10 = None
        tmp_19 = tmp_18[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_20 = torch.repeat_interleave(tmp_19, 2, 3)
        tmp_19 = None
        tmp_21 = tmp_11 * tmp_20
        tmp_20 = None
        tmp_22 = tmp_11[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, None, 2)]
        tmp_23 = tmp_11[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_11 = None
        tmp_24 = -tmp_23
        tmp_23 = None
        tmp_25 = torch.stack((tmp_24, tmp_22), dim=-1)
        tmp_22 = tmp_24 = None
        tmp_26 = tmp_25.flatten(-2)
        tmp_25 = None
        tmp_27 = tmp_26 * tmp_17
        tmp_17 = tmp_26 = None
        tmp_28 = tmp_21 + tmp_27
        tmp_21 = tmp_27 = None
        tmp_29 = tmp_15[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_15 = None
        tmp_30 = torch.repeat_interleave(tmp_29, 2, 3)
        tmp_29 = None
        tmp_31 = tmp_18[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_18 = None
        tmp_32 = torch.repeat_interleave(tmp_31, 2, 3)
        tmp_31 = None
        tmp_33 = tmp_13 * tmp_32
        tmp_32 = None
        tmp_34 = tmp_13[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, None, 2)]
        tmp_35 = tmp_13[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_13 = None
        tmp_36 = -tmp_35
        tmp_35 = None
        tmp_37 = torch.stack((tmp_36, tmp_34), dim=-1)
        tmp_34 = tmp_36 = None
        tmp_38 = tmp_37.flatten(-2)
        tmp_37 = None
        tmp_39 = tmp_38 * tmp_30
        tmp_30 = tmp_38 = None
        tmp_40 = tmp_33 + tmp_39
        tmp_33 = tmp_39 = None
        tmp_41 = torch.cat([tmp_28, tmp_12], dim=-1)
        tmp_12 = tmp_28 = None
        tmp_42 = torch.cat([tmp_40, tmp_14], dim=-1)
        tmp_14 = tmp_40 = None
        tmp_43 = tmp_41.permute(0, 2, 1, 3)
        tmp_41 = None
        tmp_44 = tmp_42.permute(0, 2, 1, 3)
        tmp_42 = None
        tmp_45 = tmp_44.to(torch.float32)
        tmp_44 = None
        tmp_46 = tmp_43.to(torch.float32)
        tmp_43 = None
        tmp_47 = tmp_46.transpose(-1, -2)
        tmp_46 = None
        return (tmp_4, tmp_45, tmp_47)
