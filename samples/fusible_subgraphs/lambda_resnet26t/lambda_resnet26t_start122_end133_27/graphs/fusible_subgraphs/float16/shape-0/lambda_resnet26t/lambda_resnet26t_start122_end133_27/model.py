import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = in_0.reshape(2, 1, 16, 100, 128)
        in_0 = None
        tmp_1 = tmp_0.transpose(2, 3)
        tmp_0 = None
        tmp_2 = in_1.unsqueeze(-2)
        in_1 = None
        tmp_3 = tmp_2 @ tmp_1
        tmp_1 = tmp_2 = None
        tmp_4 = tmp_3.squeeze(-2)
        tmp_3 = None
        tmp_5 = in_2 + tmp_4
        in_2 = tmp_4 = None
        tmp_6 = tmp_5.transpose(-1, -2)
        tmp_5 = None
        tmp_7 = tmp_6.reshape(2, 512, 10, 10)
        tmp_6 = None
        tmp_8 = torch._C._nn.avg_pool2d(tmp_7, 2, 2, 0, False, True, None)
        tmp_7 = None
        tmp_9 = torch.nn.functional.batch_norm(tmp_8, in_3, in_4, in_5, in_6, False, 0.1, 1e-05)
        in_3 = in_4 = in_5 = in_6 = tmp_8 = None
        tmp_10 = torch.nn.functional.relu(tmp_9, inplace=True)
        tmp_9 = None
        return (tmp_10,)
