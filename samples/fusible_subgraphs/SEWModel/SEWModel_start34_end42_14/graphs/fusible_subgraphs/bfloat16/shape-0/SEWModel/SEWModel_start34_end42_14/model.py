import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.conv1d(in_0, in_1, in_2, (2,), (64,), (1,), 16)
        in_1 = in_2 = None
        tmp_1 = tmp_0[slice(None, None, None), slice(None, None, None), slice(None, -1, None)]
        tmp_0 = None
        tmp_2 = torch._C._nn.gelu(tmp_1)
        tmp_1 = None
        tmp_3 = torch.avg_pool1d(in_0, (2,), (2,), (0,), False, True)
        in_0 = None
        tmp_4 = tmp_3[Ellipsis, slice(None, 12, None)]
        tmp_3 = None
        tmp_5 = tmp_2[Ellipsis, slice(None, 12, None)]
        tmp_2 = None
        tmp_6 = tmp_4 + tmp_5
        tmp_4 = tmp_5 = None
        tmp_7 = tmp_6.transpose(1, 2)
        tmp_6 = None
        return (tmp_7,)
