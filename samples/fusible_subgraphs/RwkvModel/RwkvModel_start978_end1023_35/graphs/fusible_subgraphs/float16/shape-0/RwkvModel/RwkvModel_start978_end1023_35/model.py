import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11):
        in_0[slice(None, None, None), 30] = in_1
        in_1 = None
        tmp_0 = in_2 + in_3
        tmp_1 = torch.maximum(tmp_0, in_4)
        tmp_0 = None
        tmp_2 = in_2 + in_3
        in_2 = None
        tmp_3 = tmp_2 - tmp_1
        tmp_2 = None
        tmp_4 = torch.exp(tmp_3)
        tmp_3 = None
        tmp_5 = in_4 - tmp_1
        in_4 = None
        tmp_6 = torch.exp(tmp_5)
        tmp_5 = None
        tmp_7 = tmp_4 * in_5
        in_5 = None
        tmp_8 = tmp_6 * in_6
        in_6 = None
        tmp_9 = tmp_7 + tmp_8
        tmp_7 = tmp_8 = None
        tmp_10 = tmp_4 * in_7
        in_7 = tmp_4 = None
        tmp_11 = tmp_10 + tmp_6
        tmp_6 = tmp_10 = None
        tmp_12 = in_8[slice(None, None, None), 31]
        in_8 = None
        tmp_13 = tmp_12.float()
        tmp_12 = None
        tmp_14 = in_9[slice(None, None, None), 31]
        in_9 = None
        tmp_15 = tmp_13 + in_10
        tmp_16 = torch.maximum(tmp_1, tmp_15)
        tmp_15 = None
        tmp_17 = tmp_1 - tmp_16
        tmp_18 = torch.exp(tmp_17)
        tmp_17 = None
        tmp_19 = tmp_13 + in_10
        in_10 = None
        tmp_20 = tmp_19 - tmp_16
        tmp_16 = tmp_19 = None
        tmp_21 = torch.exp(tmp_20)
        tmp_20 = None
        tmp_22 = tmp_18 * tmp_9
        tmp_23 = tmp_21 * tmp_14
        tmp_24 = tmp_22 + tmp_23
        tmp_22 = tmp_23 = None
        tmp_25 = tmp_18 * tmp_11
        tmp_18 = None
        tmp_26 = tmp_25 + tmp_21
        tmp_21 = tmp_25 = None
        tmp_27 = tmp_24 / tmp_26
        tmp_24 = tmp_26 = None
        tmp_28 = tmp_27.to(torch.float32)
        tmp_27 = None
        tmp_29 = tmp_28.to(torch.float16)
        tmp_28 = None
        in_0[slice(None, None, None), 31] = tmp_29
        tmp_29 = None
        tmp_30 = tmp_1 + in_3
        tmp_31 = torch.maximum(tmp_30, tmp_13)
        tmp_30 = None
        tmp_32 = tmp_1 + in_3
        in_3 = tmp_1 = None
        tmp_33 = tmp_32 - tmp_31
        tmp_32 = None
        tmp_34 = torch.exp(tmp_33)
        tmp_33 = None
        tmp_35 = tmp_13 - tmp_31
        tmp_13 = tmp_31 = None
        tmp_36 = torch.exp(tmp_35)
        tmp_35 = None
        tmp_37 = tmp_34 * tmp_9
        tmp_9 = None
        tmp_38 = tmp_36 * tmp_14
        tmp_14 = None
        tmp_39 = tmp_37 + tmp_38
        tmp_37 = tmp_38 = tmp_39 = None
        tmp_40 = tmp_34 * tmp_11
        tmp_11 = tmp_34 = None
        tmp_41 = tmp_40 + tmp_36
        tmp_36 = tmp_40 = tmp_41 = None
        tmp_42 = in_11 * in_0
        in_0 = in_11 = None
        return (tmp_42,)
