import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self):
        tmp_0 = torch.zeros((2, 24, 24))
        tmp_1 = tmp_0.to(device=device(type='cpu'), dtype=torch.bool)
        tmp_0 = None
        tmp_2 = ~tmp_1
        tmp_1 = None
        tmp_3 = tmp_2.cumsum(1, dtype=torch.float32)
        return (tmp_2, tmp_3)
