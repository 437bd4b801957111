import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0.float()
        in_0 = None
        tmp_1 = tmp_0.repeat_interleave(8, dim=2, output_size=8)
        tmp_0 = None
        tmp_2 = in_1.float()
        in_1 = None
        tmp_3 = tmp_2.repeat_interleave(8, dim=2, output_size=8)
        tmp_2 = None
        return (tmp_1, tmp_3)
