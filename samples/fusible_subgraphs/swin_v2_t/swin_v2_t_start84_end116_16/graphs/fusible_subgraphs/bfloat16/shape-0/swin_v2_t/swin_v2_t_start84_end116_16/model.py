import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0 @ in_1
        in_0 = in_1 = None
        tmp_1 = torch.clamp(in_2, max=4.605170185988092)
        in_2 = None
        tmp_2 = tmp_1.exp()
        tmp_1 = None
        tmp_3 = tmp_0 * tmp_2
        tmp_0 = tmp_2 = None
        tmp_4 = tmp_3 + in_3
        in_3 = tmp_3 = None
        tmp_5 = in_4.new_zeros((64, 64))
        in_4 = None
        tmp_5[slice(0, -8, None), slice(0, -8, None)] = 0
        tmp_5[slice(0, -8, None), slice(-8, -4, None)] = 1
        tmp_5[slice(0, -8, None), slice(-4, None, None)] = 2
        tmp_5[slice(-8, -4, None), slice(0, -8, None)] = 3
        tmp_5[slice(-8, -4, None), slice(-8, -4, None)] = 4
        tmp_5[slice(-8, -4, None), slice(-4, None, None)] = 5
        tmp_5[slice(-4, None, None), slice(0, -8, None)] = 6
        tmp_5[slice(-4, None, None), slice(-8, -4, None)] = 7
        tmp_5[slice(-4, None, None), slice(-4, None, None)] = 8
        tmp_6 = tmp_5.view(8, 8, 8, 8)
        tmp_5 = None
        tmp_7 = tmp_6.permute(0, 2, 1, 3)
        tmp_6 = None
        tmp_8 = tmp_7.reshape(64, 64)
        tmp_7 = None
        tmp_9 = tmp_8.unsqueeze(1)
        tmp_10 = tmp_8.unsqueeze(2)
        tmp_8 = None
        tmp_11 = tmp_9 - tmp_10
        tmp_9 = tmp_10 = None
        tmp_12 = tmp_11 != 0
        tmp_13 = tmp_11.masked_fill(tmp_12, -100.0)
        tmp_12 = None
        tmp_14 = tmp_11 == 0
        tmp_11 = None
        tmp_15 = tmp_13.masked_fill(tmp_14, 0.0)
        tmp_13 = tmp_14 = None
        tmp_16 = tmp_4.view(2, 64, 3, 64, 64)
        tmp_4 = None
        tmp_17 = tmp_15.unsqueeze(1)
        tmp_15 = None
        tmp_18 = tmp_17.unsqueeze(0)
        tmp_17 = None
        tmp_19 = tmp_16 + tmp_18
        tmp_16 = tmp_18 = None
        tmp_20 = tmp_19.view(-1, 3, 64, 64)
        tmp_19 = None
        tmp_21 = torch.nn.functional.softmax(tmp_20, dim=-1)
        tmp_20 = None
        tmp_22 = torch.nn.functional.dropout(tmp_21, p=0.0, training=False)
        tmp_21 = None
        return (tmp_22,)
