import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = in_0[slice(None, None, None), slice(None, None, None), slice(None, 14, None), slice(None, 14, None)]
        in_0 = None
        tmp_1 = tmp_0.flatten(2)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = tmp_2.to(dtype=torch.float32)
        tmp_2 = None
        tmp_4 = in_1.add_(tmp_3)
        tmp_3 = tmp_4 = None
        tmp_5 = in_2.expand(2, -1, -1)
        in_2 = None
        tmp_6 = torch.cat([tmp_5, in_1], dim=1)
        in_1 = tmp_5 = None
        tmp_7 = torch.nn.functional.dropout(tmp_6, 0.0, False, False)
        tmp_6 = None
        tmp_8 = torch.nn.functional.layer_norm(tmp_7, (768,), in_3, in_4, 1e-06)
        in_3 = in_4 = None
        return (tmp_7, tmp_8)
