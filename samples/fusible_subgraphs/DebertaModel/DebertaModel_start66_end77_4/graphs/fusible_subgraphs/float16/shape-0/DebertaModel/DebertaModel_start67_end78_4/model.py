import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.view((1, 64, 12, -1))
        in_0 = None
        tmp_1 = tmp_0.permute(0, 2, 1, 3)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(-1, -2)
        tmp_1 = None
        tmp_3 = torch.matmul(in_1, tmp_2)
        in_1 = tmp_2 = None
        tmp_4 = in_2 + in_3
        in_2 = None
        tmp_5 = in_3 * 2
        in_3 = None
        tmp_6 = tmp_5 - 1
        tmp_5 = None
        tmp_7 = torch.clamp(tmp_4, 0, tmp_6)
        tmp_4 = tmp_6 = None
        tmp_8 = tmp_7.expand([2, 12, 32, 32])
        tmp_7 = None
        tmp_9 = torch.gather(tmp_3, dim=-1, index=tmp_8)
        tmp_3 = tmp_8 = None
        tmp_10 = 0 + tmp_9
        tmp_9 = None
        return (tmp_10,)
