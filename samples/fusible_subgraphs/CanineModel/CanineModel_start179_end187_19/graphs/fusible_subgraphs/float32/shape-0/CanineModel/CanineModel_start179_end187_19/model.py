import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0[slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_1 = torch.repeat_interleave(tmp_0, repeats=4, dim=-2)
        tmp_0 = None
        tmp_2 = in_0[slice(None, None, None), slice(-1, None, None), slice(None, None, None)]
        in_0 = None
        tmp_3 = torch.repeat_interleave(tmp_2, repeats=4, dim=-2)
        tmp_2 = None
        tmp_4 = torch.cat([tmp_1, tmp_3], dim=-2)
        tmp_1 = tmp_3 = None
        tmp_5 = torch.cat([in_1, tmp_4], dim=-1)
        in_1 = tmp_4 = None
        tmp_6 = torch.transpose(tmp_5, 1, 2)
        tmp_5 = None
        tmp_7 = torch._C._nn.pad(tmp_6, (1, 2), 'constant', 0)
        tmp_6 = None
        return (tmp_7,)
