import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, None, None, 2.0, False, False)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.layer_norm(tmp_0, (768,), in_2, in_3, 1e-09)
        in_2 = in_3 = tmp_0 = None
        tmp_2 = torch.nn.functional.dropout(tmp_1, 0.1, False, False)
        tmp_1 = None
        tmp_3 = in_4.type_as(tmp_2)
        in_4 = None
        tmp_4 = torch.arange(0, 384, 1.0, dtype=torch.int64, device=device(type='cpu'))
        tmp_5 = tmp_4.to(torch.float32)
        tmp_4 = None
        tmp_6 = tmp_5 / 384
        tmp_5 = None
        tmp_7 = 10000 ** tmp_6
        tmp_6 = None
        tmp_8 = 1 / tmp_7
        tmp_7 = None
        tmp_9 = torch.arange(-64, 64, 1.0, dtype=torch.int64, device=device(type='cpu'))
        tmp_10 = tmp_9.to(torch.float32)
        tmp_9 = None
        tmp_11 = tmp_10[slice(None, None, None), None]
        tmp_10 = None
        tmp_12 = tmp_8[None]
        tmp_8 = None
        tmp_13 = tmp_11 * tmp_12
        tmp_11 = tmp_12 = None
        tmp_14 = torch.sin(tmp_13)
        tmp_15 = torch.nn.functional.dropout(tmp_14, 0.1, False, False)
        tmp_14 = None
        tmp_16 = torch.cos(tmp_13)
        tmp_13 = None
        tmp_17 = torch.nn.functional.dropout(tmp_16, 0.1, False, False)
        tmp_16 = None
        tmp_18 = torch.cat([tmp_15, tmp_17], dim=-1)
        tmp_15 = tmp_17 = None
        tmp_19 = torch.arange(32, -32, -1, dtype=torch.int64, device=device(type='cpu'))
        tmp_20 = tmp_19[slice(None, None, None), None]
        tmp_19 = None
        tmp_21 = tmp_20 + 64
        tmp_20 = None
        tmp_22 = tmp_21.expand(64, 768)
        tmp_21 = None
        tmp_23 = torch.gather(tmp_18, 0, tmp_22)
        tmp_22 = None
        tmp_24 = torch.arange(31, -33, -1, dtype=torch.int64, device=device(type='cpu'))
        tmp_25 = tmp_24[slice(None, None, None), None]
        tmp_24 = None
        tmp_26 = tmp_25 + 64
        tmp_25 = None
        tmp_27 = tmp_26.expand(64, 768)
        tmp_26 = None
        tmp_28 = torch.gather(tmp_18, 0, tmp_27)
        tmp_27 = None
        tmp_29 = torch.arange(32, -31, -2, dtype=torch.int64, device=device(type='cpu'))
        tmp_30 = tmp_29[slice(None, None, None), None]
        tmp_29 = None
        tmp_31 = tmp_30 + 64
        tmp_30 = None
        tmp_32 = tmp_31.expand(32, 768)
        tmp_31 = None
        tmp_33 = torch.gather(tmp_18, 0, tmp_32)
        tmp_18 = tmp_32 = tmp_33 = None
        return (tmp_2, tmp_3, tmp_23, tmp_28)
