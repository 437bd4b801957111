import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = torch.nn.functional.dropout(tmp_0, 0.0, False, False)
        tmp_0 = None
        tmp_2 = in_3 + tmp_1
        in_3 = tmp_1 = None
        tmp_3 = tmp_2.reshape(2, 8, 8, 7, 7, 64)
        tmp_2 = None
        tmp_4 = tmp_3.permute(0, 5, 1, 3, 2, 4)
        tmp_3 = None
        tmp_5 = tmp_4.reshape(2, 64, 56, 56)
        tmp_4 = None
        tmp_6 = tmp_5.reshape(2, 64, 7, 8, 7, 8)
        tmp_5 = None
        tmp_7 = tmp_6.permute(0, 2, 4, 3, 5, 1)
        tmp_6 = None
        tmp_8 = tmp_7.reshape(2, 49, 64, 64)
        tmp_7 = None
        tmp_9 = torch.swapaxes(tmp_8, -2, -3)
        tmp_8 = None
        tmp_10 = torch.nn.functional.layer_norm(tmp_9, (64,), in_4, in_5, 1e-05)
        in_4 = in_5 = None
        return (tmp_9, tmp_10)
