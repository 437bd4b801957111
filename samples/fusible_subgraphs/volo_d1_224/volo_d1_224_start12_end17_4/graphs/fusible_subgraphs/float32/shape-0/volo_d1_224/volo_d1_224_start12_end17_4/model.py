import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = tmp_0.permute(0, 3, 1, 2)
        tmp_0 = None
        tmp_2 = torch.nn.functional.unfold(tmp_1, 3, 1, 1, 2)
        tmp_1 = None
        tmp_3 = tmp_2.reshape(2, 6, 32, 9, 196)
        tmp_2 = None
        tmp_4 = tmp_3.permute(0, 1, 4, 3, 2)
        tmp_3 = None
        return (tmp_4,)
