import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.reshape(-1, 64, 1, 8, 1, 8)
        in_0 = None
        tmp_1 = tmp_0.permute(0, 1, 3, 5, 2, 4)
        tmp_0 = None
        tmp_2 = tmp_1.reshape(16, 64, -1, 1)
        tmp_1 = None
        tmp_3 = tmp_2.transpose(1, 3)
        tmp_2 = None
        tmp_4 = torch.conv2d(in_1, in_2, None, (1, 1), (0, 0), (1, 1), 1)
        in_1 = in_2 = None
        tmp_5 = torch._C._nn.pad(tmp_4, [2, 2, 2, 2], 'constant', None)
        tmp_4 = None
        tmp_6 = tmp_5.unfold(2, 12, 8)
        tmp_5 = None
        tmp_7 = tmp_6.unfold(3, 12, 8)
        tmp_6 = None
        tmp_8 = tmp_7.reshape(16, 128, 1, -1)
        tmp_7 = None
        tmp_9 = tmp_8.permute(0, 2, 3, 1)
        tmp_8 = None
        tmp_10 = torch.functional.split(tmp_9, [64, 64], dim=-1)
        tmp_9 = None
        tmp_11 = tmp_10[0]
        tmp_12 = tmp_11.transpose(-1, -2)
        tmp_11 = None
        tmp_13 = tmp_10[1]
        tmp_10 = None
        return (tmp_3, tmp_13, tmp_12)
