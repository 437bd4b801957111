import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.flatten(2)
        in_0 = None
        tmp_1 = torch._C._nn.linear(tmp_0, in_1, in_2)
        in_1 = in_2 = tmp_0 = None
        tmp_2 = in_3.permute(0, 3, 1, 2)
        in_3 = None
        tmp_3 = tmp_2.float()
        tmp_2 = None
        return (tmp_1, tmp_3)
