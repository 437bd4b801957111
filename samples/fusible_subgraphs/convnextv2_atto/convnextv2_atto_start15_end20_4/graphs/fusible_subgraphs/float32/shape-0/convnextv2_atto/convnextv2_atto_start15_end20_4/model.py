import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.view((1, -1, 1, 1))
        in_0 = None
        tmp_1 = in_1.view((1, -1, 1, 1))
        in_1 = None
        tmp_2 = in_2 * in_3
        in_3 = None
        tmp_3 = torch.addcmul(tmp_0, tmp_1, tmp_2)
        tmp_0 = tmp_1 = tmp_2 = None
        tmp_4 = in_2 + tmp_3
        in_2 = tmp_3 = None
        return (tmp_4,)
