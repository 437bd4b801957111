import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15):
        tmp_0 = torch.nn.functional.embedding(in_0, in_1, None, None, 2.0, False, False)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.layer_norm(tmp_0, (1024,), in_2, in_3, 1e-05)
        in_2 = in_3 = tmp_0 = None
        tmp_2 = torch.full((), 0.7071067811865476, device=device(type='cpu'), dtype=torch.float32)
        tmp_3 = torch.arange(1, 17, device=device(type='cpu'), dtype=torch.int32)
        tmp_4 = torch.pow(tmp_2, tmp_3)
        tmp_2 = tmp_3 = None
        tmp_5 = tmp_4[slice(None, None, None), None, None]
        tmp_4 = None
        tmp_6 = torch.arange(32, device=device(type='cpu'))
        tmp_7 = tmp_5 * tmp_6
        tmp_5 = tmp_6 = None
        tmp_8 = tmp_7.repeat(2, 1, 1)
        tmp_7 = None
        tmp_9 = tmp_8.to(torch.float32)
        tmp_8 = None
        tmp_10 = torch.arange(2, device=device(type='cpu'))
        tmp_10 = None
        tmp_11 = torch.arange(1, device=device(type='cpu'))
        tmp_11 = None
        tmp_12 = torch.arange(32, device=device(type='cpu'))
        tmp_13 = tmp_12 + 0
        tmp_12 = None
        tmp_14 = torch.arange(32, device=device(type='cpu'))
        tmp_15 = tmp_14 + 0
        tmp_14 = None
        tmp_16 = tmp_13[None, None, slice(None, None, None), None]
        tmp_13 = None
        tmp_17 = tmp_15[None, None, None, slice(None, None, None)]
        tmp_15 = None
        tmp_18 = tmp_17 <= tmp_16
        tmp_16 = tmp_17 = None
        tmp_19 = tmp_18.expand(2, -1, 32, 32)
        tmp_18 = None
        tmp_20 = torch.zeros((), device=device(type='cpu'), dtype=torch.float32)
        tmp_21 = torch.where(tmp_19, tmp_20, -65504.0)
        tmp_19 = tmp_20 = None
        tmp_22 = torch.nn.functional.layer_norm(tmp_1, (1024,), in_4, in_5, 1e-05)
        in_4 = in_5 = None
        tmp_23 = torch._C._nn.linear(tmp_22, in_6, in_7)
        in_6 = in_7 = tmp_22 = None
        tmp_24 = tmp_23.view(2, 32, 16, 3, 64)
        tmp_23 = None
        tmp_25 = tmp_24[Ellipsis, 0, slice(None, None, None)]
        tmp_26 = tmp_25.transpose(1, 2)
        tmp_25 = None
        tmp_27 = tmp_24[Ellipsis, 1, slice(None, None, None)]
        tmp_28 = tmp_27.transpose(1, 2)
        tmp_27 = None
        tmp_29 = tmp_24[Ellipsis, 2, slice(None, None, None)]
        tmp_24 = None
        tmp_30 = tmp_29.transpose(1, 2)
        tmp_29 = None
        tmp_31 = tmp_26.reshape(32, -1, 64)
        tmp_26 = None
        tmp_32 = tmp_28.reshape(32, -1, 64)
        tmp_28 = None
        tmp_33 = tmp_32.transpose(-1, -2)
        tmp_32 = None
        tmp_34 = tmp_30.reshape(32, -1, 64)
        tmp_30 = None
        tmp_35 = tmp_9.to(torch.float16)
        tmp_36 = tmp_35.baddbmm(batch1=tmp_31, batch2=tmp_33, beta=1.0, alpha=0.125)
        tmp_31 = tmp_33 = tmp_35 = None
        tmp_37 = tmp_36.view(2, 16, 32, -1)
        tmp_36 = None
        tmp_38 = tmp_37 + tmp_21
        tmp_37 = None
        tmp_39 = torch.nn.functional.softmax(tmp_38, dim=-1, dtype=torch.float32)
        tmp_38 = None
        tmp_40 = tmp_39.to(torch.float32)
        tmp_39 = None
        tmp_41 = torch.nn.functional.dropout(tmp_40, 0.0, False, False)
        tmp_40 = None
        tmp_42 = tmp_41.view(32, 32, -1)
        tmp_41 = None
        tmp_43 = tmp_42.to(torch.float16)
        tmp_42 = None
        tmp_44 = torch.bmm(tmp_43, tmp_34)
        tmp_34 = tmp_43 = None
        tmp_45 = tmp_44.view(2, 16, 32, 64)
        tmp_44 = None
        tmp_46 = tmp_45.permute(0, 2, 1, 3)
        tmp_45 = None
        tmp_47 = tmp_46.reshape(2, 32, 1024)
        tmp_46 = None
        tmp_48 = torch._C._nn.linear(tmp_47, in_8, in_9)
        in_8 = in_9 = tmp_47 = None
        tmp_49 = torch.nn.functional.dropout(tmp_48, p=0.0, training=False)
        tmp_48 = None
        tmp_50 = tmp_1 + tmp_49
        tmp_1 = tmp_49 = None
        tmp_51 = torch.nn.functional.layer_norm(tmp_50, (1024,), in_10, in_11, 1e-05)
        in_10 = in_11 = None
        tmp_52 = torch._C._nn.linear(tmp_51, in_12, in_13)
        in_12 = in_13 = tmp_51 = None
        tmp_53 = tmp_52 * 0.5
        tmp_54 = 0.79788456 * tmp_52
        tmp_55 = 0.044715 * tmp_52
        tmp_56 = tmp_55 * tmp_52
        tmp_52 = tmp_55 = None
        tmp_57 = 1 + tmp_56
        tmp_56 = None
        tmp_58 = tmp_54 * tmp_57
        tmp_54 = tmp_57 = None
        tmp_59 = torch.tanh(tmp_58)
        tmp_58 = None
        tmp_60 = 1.0 + tmp_59
        tmp_59 = None
        tmp_61 = tmp_53 * tmp_60
        tmp_53 = tmp_60 = None
        tmp_62 = torch._C._nn.linear(tmp_61, in_14, in_15)
        in_14 = in_15 = tmp_61 = None
        return (tmp_9, tmp_21, tmp_50, tmp_62)
