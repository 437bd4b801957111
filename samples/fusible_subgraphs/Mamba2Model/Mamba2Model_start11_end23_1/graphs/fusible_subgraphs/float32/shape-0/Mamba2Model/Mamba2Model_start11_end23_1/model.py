import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = in_2.float()
        in_2 = None
        tmp_2 = torch.exp(tmp_1)
        tmp_1 = None
        tmp_3 = -tmp_2
        tmp_2 = None
        tmp_4 = tmp_0.split([512, 576, 8], dim=-1)
        tmp_0 = None
        tmp_5 = tmp_4[1]
        tmp_6 = tmp_5.transpose(1, 2)
        tmp_5 = None
        tmp_7 = in_3.squeeze(1)
        in_3 = None
        tmp_8 = tmp_6.to(torch.float32)
        tmp_6 = None
        tmp_9 = tmp_7.unsqueeze(1)
        tmp_7 = None
        tmp_10 = tmp_4[0]
        tmp_11 = tmp_4[2]
        tmp_4 = None
        return (tmp_3, tmp_10, tmp_11, tmp_8, tmp_9)
