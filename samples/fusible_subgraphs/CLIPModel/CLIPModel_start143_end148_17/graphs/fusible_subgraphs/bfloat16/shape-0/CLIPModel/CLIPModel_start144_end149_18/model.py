import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.matmul(in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = in_2.exp()
        in_2 = None
        tmp_2 = tmp_0 * tmp_1
        tmp_0 = tmp_1 = None
        tmp_3 = tmp_2.t()
        return (tmp_2, tmp_3)
