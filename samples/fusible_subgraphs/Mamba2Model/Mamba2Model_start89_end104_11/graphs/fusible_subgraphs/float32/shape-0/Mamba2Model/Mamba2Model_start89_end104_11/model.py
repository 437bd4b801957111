import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0[slice(None, None, None), slice(None, None, None), slice(None, None, None), -1]
        in_0 = None
        tmp_1 = torch._C._nn.pad(tmp_0, (1, 0), 'constant', None)
        tmp_0 = None
        tmp_2 = tmp_1[Ellipsis, None]
        tmp_1 = None
        tmp_3 = tmp_2.expand(2, 8, 3, 3)
        tmp_2 = None
        tmp_4 = torch.ones(3, 3, device=device(type='cpu'), dtype=torch.bool)
        tmp_5 = torch.tril(tmp_4, diagonal=-1)
        tmp_4 = None
        tmp_6 = ~tmp_5
        tmp_5 = None
        tmp_7 = tmp_3.masked_fill(tmp_6, 0)
        tmp_3 = tmp_6 = None
        tmp_8 = torch.cumsum(tmp_7, dim=-2)
        tmp_7 = None
        tmp_9 = torch.ones(3, 3, device=device(type='cpu'), dtype=torch.bool)
        tmp_10 = torch.tril(tmp_9, diagonal=0)
        tmp_9 = None
        tmp_11 = ~tmp_10
        tmp_10 = None
        tmp_12 = tmp_8.masked_fill(tmp_11, -inf)
        tmp_8 = tmp_11 = None
        tmp_13 = torch.exp(tmp_12)
        tmp_12 = None
        tmp_14 = tmp_13.transpose(1, 3)
        tmp_13 = None
        return (tmp_14,)
