import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0.reshape(2, 49, 8, -1)
        in_0 = None
        tmp_1 = tmp_0.permute(0, 2, 1, 3)
        tmp_0 = None
        tmp_2 = tmp_1.split([32, 32, 128], dim=3)
        tmp_1 = None
        tmp_3 = tmp_2[1]
        tmp_4 = tmp_3.transpose(-2, -1)
        tmp_3 = None
        tmp_5 = tmp_2[0]
        tmp_6 = tmp_5 @ tmp_4
        tmp_4 = tmp_5 = None
        tmp_7 = tmp_6 * 0.1767766952966369
        tmp_6 = None
        tmp_8 = tmp_7 + in_1
        in_1 = tmp_7 = None
        tmp_9 = tmp_8.softmax(dim=-1)
        tmp_8 = None
        tmp_10 = tmp_2[2]
        tmp_2 = None
        return (tmp_10, tmp_9)
