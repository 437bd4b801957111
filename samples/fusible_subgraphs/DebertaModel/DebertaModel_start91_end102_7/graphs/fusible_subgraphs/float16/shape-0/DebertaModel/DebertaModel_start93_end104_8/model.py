import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch.matmul(in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = in_2.expand([2, 12, 32, 32])
        in_2 = None
        tmp_2 = torch.gather(tmp_0, dim=-1, index=tmp_1)
        tmp_0 = tmp_1 = None
        tmp_3 = tmp_2.transpose(-1, -2)
        tmp_2 = None
        in_3 += tmp_3
        tmp_4 = in_3
        in_3 = tmp_3 = None
        tmp_5 = in_4 + tmp_4
        in_4 = tmp_4 = None
        tmp_6 = in_5.bool()
        in_5 = None
        tmp_7 = ~tmp_6
        tmp_6 = None
        tmp_8 = tmp_5.masked_fill(tmp_7, -65504.0)
        tmp_5 = tmp_7 = None
        tmp_9 = torch.nn.functional.softmax(tmp_8, dim=-1)
        tmp_8 = None
        tmp_10 = torch.nn.functional.dropout(tmp_9, 0.1, False, False)
        tmp_9 = None
        return (tmp_10,)
