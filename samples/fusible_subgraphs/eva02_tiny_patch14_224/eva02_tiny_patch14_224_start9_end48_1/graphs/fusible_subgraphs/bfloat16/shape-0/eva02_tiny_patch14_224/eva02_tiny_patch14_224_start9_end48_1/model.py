import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, weight=in_1, bias=in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.reshape(2, 257, 3, 3, -1)
        tmp_0 = None
        tmp_2 = tmp_1.permute(2, 0, 3, 1, 4)
        tmp_1 = None
        tmp_3 = tmp_2.unbind(0)
        tmp_2 = None
        tmp_4 = tmp_3[0]
        tmp_5 = tmp_4[slice(None, None, None), slice(None, None, None), slice(None, 1, None), slice(None, None, None)]
        tmp_6 = tmp_4[slice(None, None, None), slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_4 = None
        tmp_7 = in_3.chunk(2, -1)
        tmp_8 = tmp_7[1]
        tmp_9 = tmp_6 * tmp_8
        tmp_8 = None
        tmp_10 = tmp_6[Ellipsis, slice(1, None, 2)]
        tmp_11 = -tmp_10
        tmp_10 = None
        tmp_12 = tmp_6[Ellipsis, slice(None, None, 2)]
        tmp_6 = None
        tmp_13 = torch.stack([tmp_11, tmp_12], -1)
        tmp_11 = tmp_12 = None
        tmp_14 = tmp_13.reshape((2, 3, 256, 64))
        tmp_13 = None
        tmp_15 = tmp_7[0]
        tmp_7 = None
        tmp_16 = tmp_14 * tmp_15
        tmp_14 = tmp_15 = None
        tmp_17 = tmp_9 + tmp_16
        tmp_9 = tmp_16 = None
        tmp_18 = tmp_17.to(dtype=torch.float32)
        tmp_17 = None
        tmp_19 = torch.cat([tmp_5, tmp_18], dim=2)
        tmp_5 = tmp_18 = None
        tmp_20 = tmp_3[2]
        tmp_21 = tmp_19.type_as(tmp_20)
        tmp_19 = None
        tmp_22 = tmp_3[1]
        tmp_3 = None
        tmp_23 = tmp_22[slice(None, None, None), slice(None, None, None), slice(None, 1, None), slice(None, None, None)]
        tmp_24 = tmp_22[slice(None, None, None), slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_22 = None
        tmp_25 = in_3.chunk(2, -1)
        in_3 = None
        tmp_26 = tmp_25[1]
        tmp_27 = tmp_24 * tmp_26
        tmp_26 = None
        tmp_28 = tmp_24[Ellipsis, slice(1, None, 2)]
        tmp_29 = -tmp_28
        tmp_28 = None
        tmp_30 = tmp_24[Ellipsis, slice(None, None, 2)]
        tmp_24 = None
        tmp_31 = torch.stack([tmp_29, tmp_30], -1)
        tmp_29 = tmp_30 = None
        tmp_32 = tmp_31.reshape((2, 3, 256, 64))
        tmp_31 = None
        tmp_33 = tmp_25[0]
        tmp_25 = None
        tmp_34 = tmp_32 * tmp_33
        tmp_32 = tmp_33 = None
        tmp_35 = tmp_27 + tmp_34
        tmp_27 = tmp_34 = None
        tmp_36 = tmp_35.to(dtype=torch.float32)
        tmp_35 = None
        tmp_37 = torch.cat([tmp_23, tmp_36], dim=2)
        tmp_23 = tmp_36 = None
        tmp_38 = tmp_37.type_as(tmp_20)
        tmp_37 = None
        return (tmp_20, tmp_21, tmp_38)
