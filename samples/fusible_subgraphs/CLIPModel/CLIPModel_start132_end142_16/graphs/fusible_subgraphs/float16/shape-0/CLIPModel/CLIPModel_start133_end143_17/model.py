import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = torch.pow(in_2, 2)
        tmp_2 = torch.sum(tmp_1, dim=-1, keepdim=True)
        tmp_1 = None
        tmp_3 = torch.pow(tmp_2, 0.5)
        tmp_2 = None
        tmp_4 = in_2 / tmp_3
        in_2 = tmp_3 = None
        tmp_5 = torch.pow(tmp_0, 2)
        tmp_6 = torch.sum(tmp_5, dim=-1, keepdim=True)
        tmp_5 = None
        tmp_7 = torch.pow(tmp_6, 0.5)
        tmp_6 = None
        tmp_8 = tmp_0 / tmp_7
        tmp_7 = None
        tmp_9 = tmp_4.t()
        return (tmp_0, tmp_4, tmp_8, tmp_9)
