import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self):
        tmp_0 = torch.full((), 0.7071067811865476, device=device(type='cpu'), dtype=torch.float32)
        tmp_1 = torch.arange(1, 17, device=device(type='cpu'), dtype=torch.int32)
        tmp_2 = torch.pow(tmp_0, tmp_1)
        tmp_0 = tmp_1 = None
        tmp_3 = tmp_2[slice(None, None, None), None, None]
        tmp_2 = None
        tmp_4 = torch.arange(32, device=device(type='cpu'))
        tmp_5 = tmp_3 * tmp_4
        tmp_3 = tmp_4 = None
        tmp_6 = tmp_5.repeat(2, 1, 1)
        tmp_5 = None
        tmp_7 = tmp_6.to(torch.float32)
        tmp_6 = None
        tmp_8 = torch.arange(2, device=device(type='cpu'))
        tmp_8 = None
        tmp_9 = torch.arange(1, device=device(type='cpu'))
        tmp_9 = None
        tmp_10 = torch.arange(32, device=device(type='cpu'))
        tmp_11 = tmp_10 + 0
        tmp_10 = None
        tmp_12 = torch.arange(32, device=device(type='cpu'))
        tmp_13 = tmp_12 + 0
        tmp_12 = None
        tmp_14 = tmp_11[None, None, slice(None, None, None), None]
        tmp_11 = None
        tmp_15 = tmp_13[None, None, None, slice(None, None, None)]
        tmp_13 = None
        tmp_16 = tmp_15 <= tmp_14
        tmp_14 = tmp_15 = None
        tmp_17 = tmp_16.expand(2, -1, 32, 32)
        tmp_16 = None
        return (tmp_7, tmp_17)
