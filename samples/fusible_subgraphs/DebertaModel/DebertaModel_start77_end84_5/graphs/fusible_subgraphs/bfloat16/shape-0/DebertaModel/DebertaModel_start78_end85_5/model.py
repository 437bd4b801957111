import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.view((1, 64, 12, -1))
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        tmp_1 = None
        tmp_3 = torch.tensor(64, dtype=torch.float32)
        tmp_4 = tmp_3 * 3
        tmp_3 = None
        tmp_5 = torch.sqrt(tmp_4)
        tmp_4 = None
        tmp_2 /= tmp_5
        tmp_6 = tmp_2
        tmp_2 = tmp_5 = None
        return (tmp_6,)
