import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (1, 1), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.split([1, 64, 64], dim=1)
        tmp_0 = None
        tmp_2 = tmp_1[0]
        tmp_3 = torch.nn.functional.softmax(tmp_2, dim=-1)
        tmp_2 = None
        tmp_4 = torch.nn.functional.dropout(tmp_3, 0.0, False, False)
        tmp_3 = None
        tmp_5 = tmp_1[1]
        tmp_6 = tmp_1[2]
        tmp_1 = None
        return (tmp_5, tmp_6, tmp_4)
