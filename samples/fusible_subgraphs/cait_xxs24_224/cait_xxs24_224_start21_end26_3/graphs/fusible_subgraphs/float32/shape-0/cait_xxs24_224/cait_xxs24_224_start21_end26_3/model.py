import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0.permute(0, 3, 1, 2)
        in_0 = None
        tmp_1 = torch.nn.functional.dropout(tmp_0, 0.0, False, False)
        tmp_0 = None
        tmp_2 = tmp_1 @ in_1
        in_1 = tmp_1 = None
        tmp_3 = tmp_2.transpose(1, 2)
        tmp_2 = None
        tmp_4 = tmp_3.reshape(2, 196, 192)
        tmp_3 = None
        return (tmp_4,)
