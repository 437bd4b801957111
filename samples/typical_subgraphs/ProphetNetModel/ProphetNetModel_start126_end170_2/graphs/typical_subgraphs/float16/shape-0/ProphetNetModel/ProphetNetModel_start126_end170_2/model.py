import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8):
        tmp_0 = in_0[slice(None, None, None), slice(None, 16, None), slice(512, 528, None)]
        in_0 = None
        tmp_1 = torch.cat([in_1, tmp_0], 2)
        in_1 = tmp_0 = None
        tmp_2 = tmp_1.repeat(2, 1, 1)
        tmp_1 = None
        tmp_3 = in_2 + 1
        in_2 = None
        tmp_4 = torch.nn.functional.embedding(tmp_3, in_3, 0, None, 2.0, False, False)
        in_3 = tmp_3 = None
        tmp_5 = in_4 + in_5
        in_4 = in_5 = None
        tmp_6 = in_6[-1]
        tmp_7 = tmp_6 + tmp_4
        tmp_6 = None
        tmp_8 = in_6[0]
        in_6 = None
        tmp_9 = tmp_8 + tmp_4
        tmp_4 = tmp_8 = None
        tmp_10 = torch.full((16, 16), -65504.0, dtype=torch.float32, device=device(type='cpu'))
        tmp_11 = torch.triu(tmp_10, 1)
        tmp_10 = None
        tmp_12 = tmp_11[slice(None, 16, None), slice(None, 16, None)]
        tmp_11 = None
        tmp_13 = tmp_12[None, None, slice(None, None, None), slice(None, None, None)]
        tmp_12 = None
        tmp_14 = tmp_13.expand((2, 16, 16, 16))
        tmp_13 = None
        tmp_15 = tmp_14.to(torch.float32)
        tmp_14 = None
        tmp_16 = torch.arange(512, device=device(type='cpu'))
        tmp_17 = tmp_16.view(1, 512, 1)
        tmp_16 = None
        tmp_18 = torch.arange(512, device=device(type='cpu'))
        tmp_19 = tmp_18.view(1, 1, 512)
        tmp_18 = None
        tmp_20 = torch.arange(2, device=device(type='cpu'))
        tmp_21 = -tmp_20
        tmp_20 = None
        tmp_22 = tmp_21 + 1
        tmp_21 = None
        tmp_23 = tmp_22.view(2, 1, 1)
        tmp_22 = None
        tmp_24 = tmp_19 - tmp_17
        tmp_25 = tmp_24 >= tmp_23
        tmp_23 = tmp_24 = None
        tmp_26 = tmp_19 != 0
        tmp_27 = tmp_25 & tmp_26
        tmp_25 = tmp_26 = None
        tmp_28 = tmp_17 != tmp_19
        tmp_17 = tmp_19 = None
        tmp_29 = tmp_28.expand(2, 512, 512)
        tmp_28 = None
        tmp_30 = torch.full((), -65504.0, dtype=torch.float32, device=device(type='cpu'))
        tmp_31 = torch.zeros((), dtype=torch.float32, device=device(type='cpu'))
        tmp_32 = torch.where(tmp_27, tmp_30, tmp_31)
        tmp_27 = None
        tmp_33 = torch.where(tmp_29, tmp_30, tmp_31)
        tmp_29 = tmp_30 = tmp_31 = None
        tmp_34 = torch.cat([tmp_32, tmp_33], dim=2)
        tmp_32 = tmp_33 = None
        tmp_35 = tmp_34[slice(None, None, None), slice(None, 16, None), slice(None, 16, None)]
        tmp_36 = tmp_34[slice(None, None, None), slice(None, 16, None), slice(512, 528, None)]
        tmp_34 = None
        tmp_37 = torch.cat([tmp_35, tmp_36], dim=-1)
        tmp_35 = tmp_36 = None
        tmp_38 = tmp_37[None, None, slice(None, None, None), slice(None, None, None), slice(None, None, None)]
        tmp_37 = None
        tmp_39 = tmp_38.expand((2, 16, 2, 16, 32))
        tmp_38 = None
        tmp_40 = tmp_39.to(torch.float32)
        tmp_39 = None
        tmp_41 = torch.cat([tmp_5, tmp_7, tmp_9], 1)
        tmp_5 = tmp_7 = tmp_9 = None
        tmp_42 = torch.nn.functional.layer_norm(tmp_41, (1024,), in_7, in_8, 1e-05)
        in_7 = in_8 = tmp_41 = None
        tmp_43 = torch.nn.functional.dropout(tmp_42, p=0.1, training=False)
        tmp_42 = None
        return (tmp_2, tmp_15, tmp_40, tmp_43)
