import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = tmp_0.view((2, 32, 12, -1))
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        tmp_1 = None
        tmp_3 = tmp_2.chunk(3, dim=-1)
        tmp_2 = None
        tmp_4 = in_2[None, None, slice(None, None, None)]
        in_2 = None
        tmp_5 = tmp_4.view((1, 1, 12, -1))
        tmp_4 = None
        tmp_6 = tmp_5.permute(0, 2, 1, 3)
        tmp_5 = None
        tmp_7 = tmp_3[0]
        tmp_8 = tmp_7 + tmp_6
        tmp_6 = tmp_7 = None
        tmp_9 = in_3[None, None, slice(None, None, None)]
        in_3 = None
        tmp_10 = tmp_9.view((1, 1, 12, -1))
        tmp_9 = None
        tmp_11 = tmp_10.permute(0, 2, 1, 3)
        tmp_10 = None
        tmp_12 = tmp_3[2]
        tmp_13 = tmp_12 + tmp_11
        tmp_11 = tmp_12 = None
        tmp_14 = torch.tensor(64, dtype=torch.float32)
        tmp_15 = tmp_14 * 3
        tmp_14 = None
        tmp_16 = torch.sqrt(tmp_15)
        tmp_15 = None
        tmp_17 = tmp_16.to(dtype=torch.float32)
        tmp_16 = None
        tmp_18 = tmp_8 / tmp_17
        tmp_8 = tmp_17 = None
        tmp_19 = tmp_3[1]
        tmp_3 = None
        tmp_20 = tmp_19.transpose(-1, -2)
        return (tmp_19, tmp_13, tmp_18, tmp_20)
