import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = torch.functional.einsum('binh,tnh->bnit', in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = torch.reshape(tmp_0, [2, 12, 64, 32])
        tmp_0 = None
        tmp_2 = tmp_1[slice(None, None, None), slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_1 = None
        tmp_3 = torch.reshape(tmp_2, [2, 12, 32, 63])
        tmp_2 = None
        tmp_4 = tmp_3[Ellipsis, slice(None, 32, None)]
        tmp_3 = None
        tmp_4 *= in_2
        tmp_5 = tmp_4
        in_2 = tmp_4 = None
        tmp_6 = in_3 * 0.125
        in_3 = None
        tmp_7 = in_4 + tmp_6
        in_4 = tmp_6 = None
        return (tmp_5, tmp_7)
