import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = in_3.unsqueeze(1)
        in_3 = None
        tmp_2 = torch.tensor_split(tmp_1, indices=(1,), dim=2)
        tmp_1 = None
        tmp_3 = tmp_2[1]
        tmp_4 = tmp_3.transpose(2, 3)
        tmp_3 = None
        tmp_5 = tmp_4.reshape((2, 192, 8, 56, 56))
        tmp_4 = None
        tmp_6 = tmp_5.contiguous()
        tmp_5 = None
        tmp_7 = torch.nn.functional.max_pool3d(tmp_6, [1, 3, 3], [1, 2, 2], [0, 1, 1], 1, ceil_mode=False, return_indices=False)
        tmp_6 = None
        tmp_8 = tmp_7.reshape(2, 1, 192, -1)
        tmp_7 = None
        tmp_9 = tmp_8.transpose(2, 3)
        tmp_8 = None
        tmp_10 = tmp_2[0]
        tmp_2 = None
        return (tmp_0, tmp_10, tmp_9)
