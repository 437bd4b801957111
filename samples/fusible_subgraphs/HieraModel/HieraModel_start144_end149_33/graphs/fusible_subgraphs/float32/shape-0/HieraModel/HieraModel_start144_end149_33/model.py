import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = in_3 + tmp_0
        in_3 = tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_3 = torch.adaptive_avg_pool1d(tmp_2, 1)
        tmp_2 = None
        tmp_4 = torch.flatten(tmp_3, 1)
        tmp_3 = None
        return (tmp_1, tmp_4)
