import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.reshape(in_0, (2, 1, 64))
        in_0 = None
        tmp_1 = tmp_0.float()
        tmp_0 = None
        tmp_2 = torch.nn.functional.max_pool1d(tmp_1, 4, 4, 0, 1, ceil_mode=False, return_indices=False)
        tmp_1 = None
        tmp_3 = tmp_2.squeeze(dim=1)
        tmp_2 = None
        tmp_4 = in_1[slice(None, None, None), slice(None, 64, None)]
        in_1 = None
        tmp_5 = in_2 + 1
        tmp_6 = tmp_5 * 31
        tmp_5 = None
        tmp_7 = tmp_6 % 16384
        tmp_6 = None
        tmp_8 = in_2 + 1
        tmp_9 = tmp_8 * 43
        tmp_8 = None
        tmp_10 = tmp_9 % 16384
        tmp_9 = None
        tmp_11 = in_2 + 1
        tmp_12 = tmp_11 * 59
        tmp_11 = None
        tmp_13 = tmp_12 % 16384
        tmp_12 = None
        tmp_14 = in_2 + 1
        tmp_15 = tmp_14 * 61
        tmp_14 = None
        tmp_16 = tmp_15 % 16384
        tmp_15 = None
        tmp_17 = in_2 + 1
        tmp_18 = tmp_17 * 73
        tmp_17 = None
        tmp_19 = tmp_18 % 16384
        tmp_18 = None
        tmp_20 = in_2 + 1
        tmp_21 = tmp_20 * 97
        tmp_20 = None
        tmp_22 = tmp_21 % 16384
        tmp_21 = None
        tmp_23 = in_2 + 1
        tmp_24 = tmp_23 * 103
        tmp_23 = None
        tmp_25 = tmp_24 % 16384
        tmp_24 = None
        tmp_26 = in_2 + 1
        in_2 = None
        tmp_27 = tmp_26 * 113
        tmp_26 = None
        tmp_28 = tmp_27 % 16384
        tmp_27 = None
        return (tmp_3, tmp_4, tmp_7, tmp_10, tmp_13, tmp_16, tmp_19, tmp_22, tmp_25, tmp_28)
