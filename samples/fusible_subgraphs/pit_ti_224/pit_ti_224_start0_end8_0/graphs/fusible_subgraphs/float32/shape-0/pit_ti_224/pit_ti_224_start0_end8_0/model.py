import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (8, 8), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0 + in_3
        in_3 = tmp_0 = None
        tmp_2 = torch.nn.functional.dropout(tmp_1, 0.0, False, False)
        tmp_1 = None
        tmp_3 = in_4.expand(2, -1, -1)
        in_4 = None
        tmp_4 = tmp_2.flatten(2)
        tmp_2 = None
        tmp_5 = tmp_4.transpose(1, 2)
        tmp_4 = None
        tmp_6 = torch.cat((tmp_3, tmp_5), dim=1)
        tmp_3 = tmp_5 = None
        tmp_7 = torch.nn.functional.layer_norm(tmp_6, (64,), in_5, in_6, 1e-06)
        in_5 = in_6 = None
        return (tmp_6, tmp_7)
