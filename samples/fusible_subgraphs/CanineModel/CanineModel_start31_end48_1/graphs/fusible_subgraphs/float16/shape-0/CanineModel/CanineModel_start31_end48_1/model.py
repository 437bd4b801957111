import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, None, None, 2.0, False, False)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.embedding(in_2, in_3, None, None, 2.0, False, False)
        in_2 = in_3 = None
        tmp_2 = torch.nn.functional.embedding(in_4, in_5, None, None, 2.0, False, False)
        in_4 = in_5 = None
        tmp_3 = torch.nn.functional.embedding(in_6, in_7, None, None, 2.0, False, False)
        in_6 = in_7 = None
        tmp_4 = torch.nn.functional.embedding(in_8, in_9, None, None, 2.0, False, False)
        in_8 = in_9 = None
        tmp_5 = torch.nn.functional.embedding(in_10, in_11, None, None, 2.0, False, False)
        in_10 = in_11 = None
        tmp_6 = torch.nn.functional.embedding(in_12, in_13, None, None, 2.0, False, False)
        in_12 = in_13 = None
        tmp_7 = torch.nn.functional.embedding(in_14, in_15, None, None, 2.0, False, False)
        in_14 = in_15 = None
        tmp_8 = torch.cat([tmp_0, tmp_1, tmp_2, tmp_3, tmp_4, tmp_5, tmp_6, tmp_7], dim=-1)
        tmp_0 = tmp_1 = tmp_2 = tmp_3 = tmp_4 = tmp_5 = tmp_6 = tmp_7 = None
        tmp_9 = torch.nn.functional.embedding(in_16, in_17, None, None, 2.0, False, False)
        in_16 = in_17 = None
        tmp_10 = tmp_8 + tmp_9
        tmp_8 = tmp_9 = None
        tmp_11 = torch.nn.functional.embedding(in_18, in_19, None, None, 2.0, False, False)
        in_18 = in_19 = None
        tmp_10 += tmp_11
        tmp_12 = tmp_10
        tmp_10 = tmp_11 = None
        tmp_13 = torch.nn.functional.layer_norm(tmp_12, (768,), in_20, in_21, 1e-12)
        in_20 = in_21 = tmp_12 = None
        tmp_14 = torch.nn.functional.dropout(tmp_13, 0.1, False, False)
        tmp_13 = None
        tmp_15 = torch.reshape(in_22, (2, 1, 64))
        in_22 = None
        tmp_16 = tmp_15.float()
        tmp_15 = None
        return (tmp_14, tmp_16)
