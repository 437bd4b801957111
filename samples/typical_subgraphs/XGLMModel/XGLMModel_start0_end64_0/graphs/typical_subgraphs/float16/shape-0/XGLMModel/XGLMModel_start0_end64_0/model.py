import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, 0, None, 2.0, False, False)
        in_0 = in_1 = None
        tmp_1 = tmp_0 * 32.0
        tmp_0 = None
        tmp_2 = torch.arange(2, device=device(type='cpu'))
        tmp_2 = None
        tmp_3 = torch.arange(1, device=device(type='cpu'))
        tmp_3 = None
        tmp_4 = torch.arange(32, device=device(type='cpu'))
        tmp_5 = tmp_4 + 0
        tmp_4 = None
        tmp_6 = torch.arange(32, device=device(type='cpu'))
        tmp_7 = tmp_6 + 0
        tmp_6 = None
        tmp_8 = tmp_5[None, None, slice(None, None, None), None]
        tmp_5 = None
        tmp_9 = tmp_7[None, None, None, slice(None, None, None)]
        tmp_7 = None
        tmp_10 = tmp_9 <= tmp_8
        tmp_8 = tmp_9 = None
        tmp_11 = tmp_10.expand(2, -1, 32, 32)
        tmp_10 = None
        tmp_12 = torch.zeros((), device=device(type='cpu'), dtype=torch.float32)
        tmp_13 = torch.where(tmp_11, tmp_12, -65504.0)
        tmp_11 = tmp_12 = None
        tmp_14 = torch.arange(0, 32, dtype=torch.int64, device=device(type='cpu'))
        tmp_15 = tmp_14.unsqueeze(0)
        tmp_14 = None
        tmp_16 = tmp_15 + 2
        tmp_15 = None
        tmp_17 = tmp_16.view(-1)
        tmp_16 = None
        tmp_18 = in_2.index_select(0, tmp_17)
        in_2 = tmp_17 = None
        tmp_19 = tmp_18.view(1, 32, 1024)
        tmp_18 = None
        tmp_20 = tmp_19.detach()
        tmp_19 = None
        tmp_21 = tmp_1 + tmp_20
        tmp_1 = tmp_20 = None
        tmp_22 = torch.nn.functional.dropout(tmp_21, p=0.1, training=False)
        tmp_21 = None
        tmp_23 = torch.nn.functional.layer_norm(tmp_22, (1024,), in_3, in_4, 1e-05)
        in_3 = in_4 = None
        tmp_24 = torch._C._nn.linear(tmp_23, in_5, in_6)
        in_5 = in_6 = None
        tmp_25 = tmp_24 * 0.125
        tmp_24 = None
        tmp_26 = torch._C._nn.linear(tmp_23, in_7, in_8)
        in_7 = in_8 = None
        tmp_27 = torch._C._nn.linear(tmp_23, in_9, in_10)
        in_9 = in_10 = tmp_23 = None
        tmp_28 = tmp_26.view(2, 32, -1, 64)
        tmp_26 = None
        tmp_29 = tmp_28.transpose(1, 2)
        tmp_28 = None
        tmp_30 = tmp_27.view(2, 32, -1, 64)
        tmp_27 = None
        tmp_31 = tmp_30.transpose(1, 2)
        tmp_30 = None
        tmp_32 = tmp_25.view(2, 32, 16, 64)
        tmp_25 = None
        tmp_33 = tmp_32.transpose(1, 2)
        tmp_32 = None
        tmp_34 = tmp_33.reshape(32, -1, 64)
        tmp_33 = None
        tmp_35 = tmp_29.reshape(32, -1, 64)
        tmp_29 = None
        tmp_36 = tmp_31.reshape(32, -1, 64)
        tmp_31 = None
        tmp_37 = tmp_35.transpose(1, 2)
        tmp_35 = None
        tmp_38 = torch.bmm(tmp_34, tmp_37)
        tmp_34 = tmp_37 = None
        tmp_39 = tmp_38.view(2, 16, 32, 32)
        tmp_38 = None
        tmp_40 = tmp_39 + tmp_13
        tmp_39 = None
        tmp_41 = torch.full((), -65504.0, device=device(type='cpu'))
        tmp_42 = torch.max(tmp_40, tmp_41)
        tmp_40 = tmp_41 = None
        tmp_43 = tmp_42.view(32, 32, 32)
        tmp_42 = None
        tmp_44 = torch.nn.functional.softmax(tmp_43, dim=-1)
        tmp_43 = None
        tmp_45 = tmp_44.view(2, 16, 32, 32)
        tmp_44 = None
        tmp_46 = tmp_45.view(32, 32, 32)
        tmp_45 = None
        tmp_47 = torch.nn.functional.dropout(tmp_46, p=0.1, training=False)
        tmp_46 = None
        tmp_48 = tmp_47.to(torch.float16)
        tmp_47 = None
        tmp_49 = torch.bmm(tmp_48, tmp_36)
        tmp_36 = tmp_48 = None
        tmp_50 = tmp_49.view(2, 16, 32, 64)
        tmp_49 = None
        tmp_51 = tmp_50.transpose(1, 2)
        tmp_50 = None
        tmp_52 = tmp_51.reshape(2, 32, 1024)
        tmp_51 = None
        tmp_53 = torch._C._nn.linear(tmp_52, in_11, in_12)
        in_11 = in_12 = tmp_52 = None
        tmp_54 = torch.nn.functional.dropout(tmp_53, p=0.1, training=False)
        tmp_53 = None
        tmp_55 = tmp_22 + tmp_54
        tmp_22 = tmp_54 = None
        tmp_56 = torch.nn.functional.layer_norm(tmp_55, (1024,), in_13, in_14, 1e-05)
        in_13 = in_14 = None
        tmp_57 = torch._C._nn.linear(tmp_56, in_15, in_16)
        in_15 = in_16 = tmp_56 = None
        tmp_58 = torch._C._nn.gelu(tmp_57)
        tmp_57 = None
        tmp_59 = torch.nn.functional.dropout(tmp_58, p=0.0, training=False)
        tmp_58 = None
        tmp_60 = torch._C._nn.linear(tmp_59, in_17, in_18)
        in_17 = in_18 = tmp_59 = None
        tmp_61 = torch.nn.functional.dropout(tmp_60, p=0.1, training=False)
        tmp_60 = None
        tmp_62 = tmp_55 + tmp_61
        tmp_55 = tmp_61 = None
        return (tmp_13, tmp_62)
