import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self):
        tmp_0 = torch.ones((2, 32), dtype=torch.int64, device=device(type='cpu'))
        tmp_1 = torch.cumsum(tmp_0, dim=1)
        tmp_2 = tmp_1.type_as(tmp_0)
        tmp_1 = None
        tmp_3 = tmp_2 * tmp_0
        tmp_0 = tmp_2 = None
        tmp_4 = tmp_3.long()
        tmp_3 = None
        tmp_5 = tmp_4 + 0
        tmp_4 = None
        tmp_6 = tmp_5.clamp(0, 511)
        tmp_5 = None
        return (tmp_6,)
