import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.conv_transpose2d(in_0, in_1, in_2, (4, 4), (0, 0), (0, 0), 1, (1, 1))
        in_0 = in_1 = in_2 = None
        tmp_1 = in_3[slice(None, None, None), 0]
        tmp_2 = in_3[slice(None, None, None), slice(1, None, None)]
        in_3 = None
        tmp_3 = tmp_2.reshape(2, 14, 14, 768)
        tmp_2 = None
        tmp_4 = tmp_3.permute(0, 3, 1, 2)
        tmp_3 = None
        tmp_5 = tmp_4.contiguous()
        tmp_4 = None
        tmp_6 = tmp_5.flatten(2)
        tmp_5 = None
        tmp_7 = tmp_6.permute((0, 2, 1))
        tmp_6 = None
        tmp_8 = tmp_1.unsqueeze(1)
        tmp_1 = None
        tmp_9 = tmp_8.expand_as(tmp_7)
        tmp_8 = None
        tmp_10 = torch.cat((tmp_7, tmp_9), -1)
        tmp_7 = tmp_9 = None
        return (tmp_0, tmp_10)
