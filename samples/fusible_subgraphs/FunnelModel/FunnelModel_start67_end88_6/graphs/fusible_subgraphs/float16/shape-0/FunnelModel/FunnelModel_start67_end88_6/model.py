import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.functional.einsum('bind,snd->bnis', in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = in_2[slice(None, None, None), None]
        in_2 = None
        tmp_2 = tmp_1.expand([2, 12, 32, 32])
        tmp_1 = None
        tmp_3 = torch.functional.split(tmp_0, 1, dim=-1)
        tmp_0 = None
        tmp_4 = tmp_3[1]
        tmp_5 = tmp_4.expand((2, 12, 32, 32))
        tmp_4 = None
        tmp_6 = tmp_3[0]
        tmp_3 = None
        tmp_7 = tmp_6.expand((2, 12, 32, 32))
        tmp_6 = None
        tmp_8 = torch.where(tmp_2, tmp_5, tmp_7)
        tmp_2 = tmp_5 = tmp_7 = None
        tmp_8 *= in_3
        tmp_9 = tmp_8
        in_3 = tmp_8 = None
        tmp_10 = in_4 + in_5
        in_4 = in_5 = None
        tmp_11 = tmp_10 + tmp_9
        tmp_9 = tmp_10 = None
        tmp_12 = tmp_11.float()
        tmp_11 = None
        tmp_13 = in_6[slice(None, None, None), None, None]
        in_6 = None
        tmp_14 = tmp_13.float()
        tmp_13 = None
        tmp_15 = 1 - tmp_14
        tmp_14 = None
        tmp_16 = 1000000.0 * tmp_15
        tmp_15 = None
        tmp_17 = tmp_12 - tmp_16
        tmp_12 = tmp_16 = None
        tmp_18 = torch.softmax(tmp_17, dim=-1, dtype=torch.float32)
        tmp_17 = None
        tmp_19 = torch.nn.functional.dropout(tmp_18, 0.1, False, False)
        tmp_18 = None
        tmp_20 = tmp_19.to(torch.float16)
        tmp_19 = None
        return (tmp_20,)
