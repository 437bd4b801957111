import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.matmul(in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = tmp_0.permute(0, 2, 1, 3)
        tmp_0 = None
        tmp_2 = tmp_1.contiguous()
        tmp_1 = None
        tmp_3 = torch.reshape(in_2, [2, -1, 6, 64])
        in_2 = None
        tmp_4 = torch.cat([tmp_2, tmp_3], 2)
        tmp_2 = tmp_3 = None
        tmp_5 = tmp_4.view(2, 32, 768)
        tmp_4 = None
        return (tmp_5,)
