import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0[slice(None, None, None), slice(None, None, None), None]
        tmp_1 = in_0[slice(None, None, None), None]
        tmp_2 = tmp_0 == tmp_1
        tmp_0 = tmp_1 = None
        tmp_3 = in_0 == 2
        in_0 = None
        tmp_4 = tmp_3[slice(None, None, None), slice(None, None, None), None]
        tmp_5 = tmp_3[slice(None, None, None), None]
        tmp_3 = None
        tmp_6 = tmp_4 | tmp_5
        tmp_4 = tmp_5 = None
        tmp_7 = tmp_6 | tmp_2
        tmp_2 = tmp_6 = None
        return (tmp_7,)
