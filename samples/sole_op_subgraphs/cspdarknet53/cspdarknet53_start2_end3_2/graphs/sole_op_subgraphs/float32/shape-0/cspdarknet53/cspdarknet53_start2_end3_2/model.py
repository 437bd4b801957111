import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.nn.functional.leaky_relu(in_0, 0.01, True)
        in_0 = None
        return (tmp_0,)
