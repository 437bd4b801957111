import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = in_0[slice(None, None, None), slice(None, 32, None)]
        in_0 = None
        tmp_1 = torch.nn.functional.embedding(in_1, in_2, 0, None, 2.0, False, False)
        in_1 = in_2 = None
        tmp_2 = tmp_0.long()
        tmp_0 = None
        tmp_3 = torch.nn.functional.embedding(tmp_2, in_3, None, None, 2.0, False, False)
        in_3 = tmp_2 = None
        tmp_4 = tmp_1 + tmp_3
        tmp_1 = tmp_3 = None
        tmp_5 = torch.nn.functional.layer_norm(tmp_4, (768,), in_4, in_5, 1e-07)
        in_4 = in_5 = tmp_4 = None
        tmp_6 = in_6.unsqueeze(2)
        tmp_7 = tmp_6.to(torch.float32)
        tmp_6 = None
        tmp_8 = tmp_5 * tmp_7
        tmp_5 = tmp_7 = None
        tmp_9 = torch.nn.functional.dropout(tmp_8, 0.1, False, False)
        tmp_8 = None
        tmp_10 = in_6.unsqueeze(1)
        in_6 = None
        tmp_11 = tmp_10.unsqueeze(2)
        tmp_10 = None
        tmp_12 = tmp_11.squeeze(-2)
        tmp_13 = tmp_12.unsqueeze(-1)
        tmp_12 = None
        return (tmp_9, tmp_11, tmp_13)
