import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.permute(0, 3, 1, 2)
        in_0 = None
        tmp_1 = in_1.transpose(-2, -1)
        in_1 = None
        tmp_2 = in_2 @ tmp_1
        in_2 = tmp_1 = None
        tmp_3 = tmp_2 * 0.14433756729740643
        tmp_2 = None
        tmp_4 = tmp_3.softmax(dim=-1)
        tmp_3 = None
        tmp_5 = tmp_0.softmax(dim=-1)
        tmp_0 = None
        tmp_6 = in_3.view(1, -1, 1, 1)
        in_3 = None
        tmp_7 = torch.sigmoid(tmp_6)
        tmp_8 = 1.0 - tmp_7
        tmp_7 = None
        tmp_9 = tmp_8 * tmp_4
        tmp_4 = tmp_8 = None
        tmp_10 = torch.sigmoid(tmp_6)
        tmp_6 = None
        tmp_11 = tmp_10 * tmp_5
        tmp_5 = tmp_10 = None
        tmp_12 = tmp_9 + tmp_11
        tmp_9 = tmp_11 = None
        tmp_13 = tmp_12.sum(dim=-1)
        tmp_14 = tmp_13.unsqueeze(-1)
        tmp_13 = None
        tmp_12 /= tmp_14
        tmp_15 = tmp_12
        tmp_12 = tmp_14 = None
        tmp_16 = torch.nn.functional.dropout(tmp_15, 0.0, False, False)
        tmp_15 = None
        return (tmp_16,)
