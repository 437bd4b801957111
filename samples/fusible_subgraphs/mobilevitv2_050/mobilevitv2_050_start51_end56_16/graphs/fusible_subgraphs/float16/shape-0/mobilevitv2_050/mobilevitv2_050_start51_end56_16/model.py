import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0 * in_1
        in_0 = in_1 = None
        tmp_1 = tmp_0.sum(dim=-1, keepdim=True)
        tmp_0 = None
        tmp_2 = torch.nn.functional.relu(in_2)
        tmp_3 = tmp_1.expand_as(in_2)
        in_2 = tmp_1 = None
        tmp_4 = tmp_2 * tmp_3
        tmp_2 = tmp_3 = None
        return (tmp_4,)
