import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = tmp_0.reshape((2, 32, 4, -1))
        tmp_0 = None
        tmp_2 = torch.functional.split(tmp_1, 256, dim=-1)
        tmp_1 = None
        tmp_3 = tmp_2[0]
        tmp_4 = tmp_3.reshape((2, 32, 4, 4, 64))
        tmp_3 = None
        tmp_5 = tmp_4.reshape((2, 32, -1, 64))
        tmp_4 = None
        tmp_6 = tmp_2[2]
        tmp_7 = tmp_6.reshape((2, 32, 4, 4, 64))
        tmp_6 = None
        tmp_8 = tmp_7.reshape((2, 32, -1, 64))
        tmp_7 = None
        tmp_9 = tmp_2[1]
        tmp_2 = None
        tmp_10 = tmp_9.reshape((2, 32, 4, 4, 64))
        tmp_9 = None
        tmp_11 = tmp_10.reshape((2, 32, -1, 64))
        tmp_10 = None
        tmp_12 = tmp_11.permute(0, 2, 1, 3)
        tmp_11 = None
        tmp_13 = in_2[in_3]
        in_2 = in_3 = None
        tmp_14 = torch.functional.split(tmp_13, 32, dim=-1)
        tmp_13 = None
        tmp_15 = tmp_8[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, 64, None)]
        tmp_16 = tmp_8[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(64, None, None)]
        tmp_8 = None
        tmp_17 = tmp_5[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, 64, None)]
        tmp_18 = tmp_5[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(64, None, None)]
        tmp_5 = None
        tmp_19 = tmp_14[0]
        tmp_20 = tmp_19[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_21 = torch.repeat_interleave(tmp_20, 2, 3)
        tmp_20 = None
        tmp_22 = tmp_14[1]
        tmp_14 = None
        tmp_23 = tmp_22[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_24 = torch.repeat_interleave(tmp_23, 2, 3)
        tmp_23 = None
        tmp_25 = tmp_15 * tmp_24
        tmp_24 = None
        tmp_26 = tmp_15[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, None, 2)]
        tmp_27 = tmp_15[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_15 = None
        tmp_28 = -tmp_27
        tmp_27 = None
        tmp_29 = torch.stack((tmp_28, tmp_26), dim=-1)
        tmp_26 = tmp_28 = None
        tmp_30 = tmp_29.flatten(-2)
        tmp_29 = None
        tmp_31 = tmp_30 * tmp_21
        tmp_21 = tmp_30 = None
        tmp_32 = tmp_25 + tmp_31
        tmp_25 = tmp_31 = None
        tmp_33 = tmp_19[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_19 = None
        tmp_34 = torch.repeat_interleave(tmp_33, 2, 3)
        tmp_33 = None
        tmp_35 = tmp_22[slice(None, None, None), slice(None, None, None), None, slice(None, None, None)]
        tmp_22 = None
        tmp_36 = torch.repeat_interleave(tmp_35, 2, 3)
        tmp_35 = None
        tmp_37 = tmp_17 * tmp_36
        tmp_36 = None
        tmp_38 = tmp_17[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(None, None, 2)]
        tmp_39 = tmp_17[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_17 = None
        tmp_40 = -tmp_39
        tmp_39 = None
        tmp_41 = torch.stack((tmp_40, tmp_38), dim=-1)
        tmp_38 = tmp_40 = None
        tmp_42 = tmp_41.flatten(-2)
        tmp_41 = None
        tmp_43 = tmp_42 * tmp_34
        tmp_34 = tmp_42 = None
        tmp_44 = tmp_37 + tmp_43
        tmp_37 = tmp_43 = None
        tmp_45 = torch.cat([tmp_32, tmp_16], dim=-1)
        tmp_16 = tmp_32 = None
        tmp_46 = torch.cat([tmp_44, tmp_18], dim=-1)
        tmp_18 = tmp_44 = None
        tmp_47 = tmp_45.permute(0, 2, 1, 3)
        tmp_45 = None
        tmp_48 = tmp_46.permute(0, 2, 1, 3)
        tmp_46 = None
        tmp_49 = tmp_48.to(torch.float32)
        tmp_48 = None
        tmp_50 = tmp_47.to(torch.float32)
        tmp_47 = None
        tmp_51 = tmp_50.transpose(-1, -2)
        tmp_50 = None
        return (tmp_12, tmp_49, tmp_51)
