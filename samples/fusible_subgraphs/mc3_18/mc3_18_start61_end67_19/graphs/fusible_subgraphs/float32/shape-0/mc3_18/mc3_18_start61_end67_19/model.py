import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.conv3d(in_0, in_1, None, (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.batch_norm(tmp_0, in_2, in_3, in_4, in_5, False, 0.1, 1e-05)
        in_2 = in_3 = in_4 = in_5 = tmp_0 = None
        tmp_1 += in_6
        tmp_2 = tmp_1
        in_6 = tmp_1 = None
        tmp_3 = torch.nn.functional.relu(tmp_2, inplace=True)
        tmp_2 = None
        tmp_4 = torch.nn.functional.adaptive_avg_pool3d(tmp_3, (1, 1, 1))
        tmp_3 = None
        tmp_5 = tmp_4.flatten(1)
        tmp_4 = None
        return (tmp_5,)
