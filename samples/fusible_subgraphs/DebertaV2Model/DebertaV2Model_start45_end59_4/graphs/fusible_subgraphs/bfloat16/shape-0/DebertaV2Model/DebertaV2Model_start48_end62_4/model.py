import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = torch.bmm(in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.dropout(in_2, 0.1, False, False)
        in_2 = None
        tmp_2 = in_3.unsqueeze(1)
        in_3 = None
        tmp_3 = tmp_2.to(device=device(type='cpu'), dtype=torch.int64)
        tmp_2 = tmp_3 = None
        tmp_4 = tmp_1[slice(0, 1024, None), slice(None, None, None)]
        tmp_1 = None
        tmp_5 = tmp_4.unsqueeze(0)
        tmp_4 = tmp_5 = None
        tmp_6 = tmp_0 + 0
        tmp_0 = None
        tmp_7 = tmp_6.view(-1, 12, 32, 32)
        tmp_6 = None
        tmp_8 = in_4.bool()
        in_4 = None
        tmp_9 = ~tmp_8
        tmp_8 = None
        tmp_10 = tmp_7.masked_fill(tmp_9, -3.3895313892515355e+38)
        tmp_7 = tmp_9 = None
        tmp_11 = torch.nn.functional.softmax(tmp_10, dim=-1)
        tmp_10 = None
        tmp_12 = torch.nn.functional.dropout(tmp_11, 0.1, False, False)
        tmp_11 = None
        tmp_13 = tmp_12.view(-1, 32, 32)
        tmp_12 = None
        return (tmp_13,)
