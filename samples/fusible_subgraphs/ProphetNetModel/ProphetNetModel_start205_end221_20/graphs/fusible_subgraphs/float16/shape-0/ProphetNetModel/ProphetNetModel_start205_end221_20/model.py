import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.view((2, 16, 32, 16))
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 3, 1, 2)
        tmp_1 = None
        tmp_3 = tmp_2.reshape((2, 16, 16, -1))
        tmp_2 = None
        tmp_4 = in_3.repeat(1, 16, 1)
        in_3 = None
        tmp_5 = tmp_4.view(-1, 16)
        tmp_4 = None
        tmp_6 = tmp_5.long()
        tmp_5 = None
        tmp_7 = tmp_3.reshape(-1, 32)
        tmp_3 = None
        tmp_8 = torch.gather(tmp_7, dim=1, index=tmp_6)
        tmp_6 = tmp_7 = None
        tmp_9 = tmp_8.view(2, 16, 16, -1)
        tmp_8 = None
        tmp_10 = in_4 + tmp_9
        in_4 = tmp_9 = None
        tmp_11 = tmp_10 + in_5
        in_5 = tmp_10 = None
        tmp_12 = torch.nn.functional.softmax(tmp_11, dim=-1, dtype=torch.float32)
        tmp_13 = tmp_12.type_as(tmp_11)
        tmp_11 = tmp_12 = None
        tmp_14 = torch.nn.functional.dropout(tmp_13, p=0.1, training=False)
        tmp_13 = None
        tmp_15 = tmp_14.to(torch.float16)
        return (tmp_14, tmp_15)
