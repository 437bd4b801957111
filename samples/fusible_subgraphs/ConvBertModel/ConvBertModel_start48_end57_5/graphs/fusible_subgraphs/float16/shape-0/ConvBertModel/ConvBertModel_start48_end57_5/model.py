import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = torch.reshape(tmp_0, [2, -1, 384])
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = tmp_2.contiguous()
        tmp_2 = None
        tmp_4 = tmp_3.unsqueeze(-1)
        tmp_3 = None
        tmp_5 = torch.nn.functional.unfold(tmp_4, kernel_size=[9, 1], dilation=1, padding=[4, 0], stride=1)
        tmp_4 = None
        tmp_6 = tmp_5.transpose(1, 2)
        tmp_5 = None
        tmp_7 = tmp_6.reshape(2, -1, 384, 9)
        tmp_6 = None
        tmp_8 = torch.reshape(tmp_7, [-1, 64, 9])
        tmp_7 = None
        return (tmp_8,)
