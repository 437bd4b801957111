import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.tensor_split(in_0, indices=(1,), dim=2)
        in_0 = None
        tmp_1 = tmp_0[0]
        tmp_2 = tmp_0[1]
        tmp_0 = None
        return (tmp_1, tmp_2)
