import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.addcmul(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        return (tmp_0,)
