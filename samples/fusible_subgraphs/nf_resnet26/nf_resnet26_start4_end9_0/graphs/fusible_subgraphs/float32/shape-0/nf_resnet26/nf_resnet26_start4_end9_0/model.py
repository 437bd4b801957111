import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0.reshape_as(in_1)
        in_0 = in_1 = None
        tmp_1 = torch.conv2d(in_2, tmp_0, in_3, (2, 2), (3, 3), (1, 1), 1)
        in_2 = in_3 = tmp_0 = None
        tmp_2 = torch.nn.functional.max_pool2d(tmp_1, 3, 2, 1, 1, ceil_mode=False, return_indices=False)
        tmp_1 = None
        tmp_3 = torch.nn.functional.relu(tmp_2, inplace=False)
        tmp_2 = None
        tmp_4 = tmp_3 * 1.0
        tmp_3 = None
        return (tmp_4,)
