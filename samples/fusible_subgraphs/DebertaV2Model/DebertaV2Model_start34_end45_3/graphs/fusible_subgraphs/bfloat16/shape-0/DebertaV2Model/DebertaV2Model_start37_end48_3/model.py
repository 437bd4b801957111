import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.view((2, 32, 12, -1))
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        tmp_1 = None
        tmp_3 = tmp_2.contiguous()
        tmp_2 = None
        tmp_4 = tmp_3.view(-1, 32, 64)
        tmp_3 = None
        tmp_5 = torch.tensor(64, dtype=torch.float32)
        tmp_6 = tmp_5 * 1
        tmp_5 = None
        tmp_7 = torch.sqrt(tmp_6)
        tmp_6 = None
        tmp_8 = in_3.transpose(-1, -2)
        in_3 = None
        tmp_9 = tmp_7.to(dtype=torch.float32)
        tmp_7 = None
        tmp_10 = tmp_8 / tmp_9
        tmp_8 = tmp_9 = None
        return (tmp_4, tmp_10)
