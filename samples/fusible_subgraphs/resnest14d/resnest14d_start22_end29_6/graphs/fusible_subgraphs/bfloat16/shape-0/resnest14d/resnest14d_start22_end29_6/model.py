import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (1, 1), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.view(2, 1, 2, -1)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = torch.nn.functional.softmax(tmp_2, dim=1)
        tmp_2 = None
        tmp_4 = tmp_3.reshape(2, -1)
        tmp_3 = None
        tmp_5 = tmp_4.view(2, -1, 1, 1)
        tmp_4 = None
        tmp_6 = tmp_5.reshape((2, 2, 64, 1, 1))
        tmp_5 = None
        return (tmp_6,)
