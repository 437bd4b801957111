import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0.permute(0, 3, 1, 2)
        in_0 = None
        tmp_1 = tmp_0.flatten(1, -1)
        tmp_0 = None
        tmp_2 = torch.nn.functional.dropout(tmp_1, 0.0, False, False)
        tmp_1 = None
        tmp_3 = torch._C._nn.linear(tmp_2, in_1, in_2)
        in_1 = in_2 = tmp_2 = None
        tmp_4 = torch.nn.functional.relu(tmp_3, inplace=False)
        tmp_3 = None
        tmp_5 = torch.square(tmp_4)
        tmp_4 = None
        tmp_6 = torch.nn.functional.layer_norm(tmp_5, (2048,), in_3, in_4, 1e-06)
        in_3 = in_4 = tmp_5 = None
        tmp_7 = torch.nn.functional.dropout(tmp_6, 0.0, False, False)
        tmp_6 = None
        return (tmp_7,)
