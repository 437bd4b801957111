import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.conv3d(in_0, in_1, in_2, (2, 4, 4), (1, 3, 3), (1, 1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.flatten(2)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = in_3.expand(2, -1)
        in_3 = None
        tmp_4 = tmp_3.unsqueeze(1)
        tmp_3 = None
        tmp_5 = torch.cat((tmp_4, tmp_2), dim=1)
        tmp_2 = tmp_4 = None
        tmp_6 = torch.repeat_interleave(in_4, 3136, dim=0)
        in_4 = None
        tmp_7 = in_5.unsqueeze(0)
        in_5 = None
        tmp_8 = tmp_7.expand(8, -1, -1)
        tmp_7 = None
        tmp_9 = tmp_8.reshape(-1, 96)
        tmp_8 = None
        tmp_10 = tmp_6.add_(tmp_9)
        tmp_9 = tmp_10 = None
        tmp_11 = in_6.unsqueeze(0)
        in_6 = None
        tmp_12 = torch.cat((tmp_11, tmp_6), dim=0)
        tmp_6 = tmp_11 = None
        tmp_13 = tmp_12.unsqueeze(0)
        tmp_12 = None
        tmp_14 = tmp_5.add_(tmp_13)
        tmp_13 = tmp_14 = None
        return (tmp_5,)
