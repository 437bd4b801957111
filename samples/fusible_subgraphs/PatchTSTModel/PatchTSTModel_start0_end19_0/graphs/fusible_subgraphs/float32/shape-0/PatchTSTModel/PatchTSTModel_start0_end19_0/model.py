import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.ones_like(in_0)
        tmp_1 = tmp_0.sum(1, keepdim=True)
        tmp_2 = tmp_1.clamp_min(1.0)
        tmp_1 = None
        tmp_3 = in_0 * tmp_0
        tmp_4 = tmp_3.sum(1, keepdim=True)
        tmp_3 = None
        tmp_5 = tmp_4 / tmp_2
        tmp_4 = None
        tmp_6 = in_0 - tmp_5
        tmp_7 = tmp_6 * tmp_0
        tmp_0 = tmp_6 = None
        tmp_8 = tmp_7 ** 2
        tmp_7 = None
        tmp_9 = tmp_8.sum(1, keepdim=True)
        tmp_8 = None
        tmp_10 = tmp_9 / tmp_2
        tmp_2 = tmp_9 = None
        tmp_11 = tmp_10 + 1e-05
        tmp_10 = None
        tmp_12 = torch.sqrt(tmp_11)
        tmp_11 = None
        tmp_13 = in_0 - tmp_5
        in_0 = None
        tmp_14 = tmp_13 / tmp_12
        tmp_13 = None
        tmp_15 = tmp_14[slice(None, None, None), slice(0, None, None), slice(None, None, None)]
        tmp_14 = None
        tmp_16 = tmp_15.unfold(dimension=-2, size=16, step=16)
        tmp_15 = None
        tmp_17 = tmp_16.transpose(-2, -3)
        tmp_16 = None
        tmp_18 = tmp_17.contiguous()
        tmp_17 = None
        return (tmp_5, tmp_12, tmp_18)
