import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.permute(0, 2, 3, 1)
        in_0 = None
        tmp_1 = torch._C._nn.linear(tmp_0, in_1, in_2)
        in_1 = in_2 = tmp_0 = None
        tmp_2 = tmp_1.permute(0, 3, 1, 2)
        tmp_1 = None
        tmp_3 = tmp_2.softmax(dim=-1)
        tmp_2 = None
        tmp_4 = tmp_3.permute(0, 2, 3, 1)
        tmp_3 = None
        return (tmp_4,)
