import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = in_0[slice(None, None, None), None]
        in_0 = None
        tmp_1 = torch.conv1d(tmp_0, in_1, None, (5,), (0,), (1,), 1)
        in_1 = tmp_0 = None
        tmp_2 = torch.nn.functional.group_norm(tmp_1, 512, in_2, in_3, 1e-05)
        in_2 = in_3 = tmp_1 = None
        tmp_3 = torch._C._nn.gelu(tmp_2)
        tmp_2 = None
        return (tmp_3,)
