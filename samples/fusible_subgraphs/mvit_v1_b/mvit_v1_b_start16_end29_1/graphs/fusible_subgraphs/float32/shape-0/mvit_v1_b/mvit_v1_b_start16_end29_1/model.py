import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.reshape(2, 25089, 3, 1, 96)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 3)
        tmp_1 = None
        tmp_3 = tmp_2.unbind(dim=2)
        tmp_2 = None
        tmp_4 = tmp_3[1]
        tmp_5 = torch.tensor_split(tmp_4, indices=(1,), dim=2)
        tmp_4 = None
        tmp_6 = tmp_5[1]
        tmp_7 = tmp_6.transpose(2, 3)
        tmp_6 = None
        tmp_8 = tmp_7.reshape((2, 96, 8, 56, 56))
        tmp_7 = None
        tmp_9 = tmp_8.contiguous()
        tmp_8 = None
        tmp_10 = tmp_3[0]
        tmp_11 = tmp_3[2]
        tmp_3 = None
        tmp_12 = tmp_5[0]
        tmp_5 = None
        return (tmp_10, tmp_11, tmp_12, tmp_9)
