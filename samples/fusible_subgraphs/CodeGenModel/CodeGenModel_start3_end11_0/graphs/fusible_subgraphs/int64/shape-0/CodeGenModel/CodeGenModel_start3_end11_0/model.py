import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0.unsqueeze(0)
        in_0 = None
        tmp_1 = tmp_0.expand(2, -1)
        tmp_2 = tmp_1[slice(None, None, None), slice(None, 1, None)]
        tmp_3 = tmp_2 - 1
        tmp_2 = None
        tmp_4 = torch.diff(tmp_1, prepend=tmp_3, dim=-1)
        tmp_1 = tmp_3 = None
        tmp_5 = tmp_4 != 1
        tmp_4 = None
        tmp_6 = tmp_5.cumsum(-1)
        tmp_5 = None
        tmp_7 = tmp_0.expand(2, -1)
        return (tmp_0, tmp_6, tmp_7)
