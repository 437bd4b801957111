import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.reshape(2, 3137, 3, 8, 8)
        tmp_0 = None
        tmp_2 = tmp_1.permute(2, 0, 3, 1, 4)
        tmp_1 = None
        tmp_3 = tmp_2.unbind(0)
        tmp_2 = None
        tmp_4 = tmp_3[1]
        tmp_5 = tmp_4.softmax(dim=2)
        tmp_4 = None
        tmp_6 = tmp_5.transpose(-1, -2)
        tmp_5 = None
        tmp_7 = tmp_3[0]
        tmp_8 = tmp_3[2]
        tmp_3 = None
        return (tmp_7, tmp_8, tmp_6)
