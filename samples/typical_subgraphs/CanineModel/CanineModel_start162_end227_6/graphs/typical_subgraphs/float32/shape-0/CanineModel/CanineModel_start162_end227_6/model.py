import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26):
        tmp_0 = torch.matmul(in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = tmp_0.permute(0, 2, 1, 3)
        tmp_0 = None
        tmp_2 = tmp_1.contiguous()
        tmp_1 = None
        tmp_3 = tmp_2.view(2, 16, 768)
        tmp_2 = None
        tmp_4 = torch._C._nn.linear(tmp_3, in_2, in_3)
        in_2 = in_3 = tmp_3 = None
        tmp_5 = torch.nn.functional.dropout(tmp_4, 0.1, False, False)
        tmp_4 = None
        tmp_6 = tmp_5 + in_4
        in_4 = tmp_5 = None
        tmp_7 = torch.nn.functional.layer_norm(tmp_6, (768,), in_5, in_6, 1e-12)
        in_5 = in_6 = tmp_6 = None
        tmp_8 = torch._C._nn.linear(tmp_7, in_7, in_8)
        in_7 = in_8 = None
        tmp_9 = torch._C._nn.gelu(tmp_8)
        tmp_8 = None
        tmp_10 = torch._C._nn.linear(tmp_9, in_9, in_10)
        in_9 = in_10 = tmp_9 = None
        tmp_11 = torch.nn.functional.dropout(tmp_10, 0.1, False, False)
        tmp_10 = None
        tmp_12 = tmp_11 + tmp_7
        tmp_7 = tmp_11 = None
        tmp_13 = torch.nn.functional.layer_norm(tmp_12, (768,), in_11, in_12, 1e-12)
        in_11 = in_12 = tmp_12 = None
        tmp_14 = tmp_13[slice(None, None, None), 0]
        tmp_15 = torch._C._nn.linear(tmp_14, in_13, in_14)
        in_13 = in_14 = tmp_14 = None
        tmp_16 = torch.tanh(tmp_15)
        tmp_15 = None
        tmp_17 = tmp_13[slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_18 = torch.repeat_interleave(tmp_17, repeats=4, dim=-2)
        tmp_17 = None
        tmp_19 = tmp_13[slice(None, None, None), slice(-1, None, None), slice(None, None, None)]
        tmp_13 = None
        tmp_20 = torch.repeat_interleave(tmp_19, repeats=4, dim=-2)
        tmp_19 = None
        tmp_21 = torch.cat([tmp_18, tmp_20], dim=-2)
        tmp_18 = tmp_20 = None
        tmp_22 = torch.cat([in_15, tmp_21], dim=-1)
        in_15 = tmp_21 = None
        tmp_23 = torch.transpose(tmp_22, 1, 2)
        tmp_22 = None
        tmp_24 = torch._C._nn.pad(tmp_23, (1, 2), 'constant', 0)
        tmp_23 = None
        tmp_25 = torch.conv1d(tmp_24, in_16, in_17, (1,), (0,), (1,), 1)
        in_16 = in_17 = tmp_24 = None
        tmp_26 = torch.transpose(tmp_25, 1, 2)
        tmp_25 = None
        tmp_27 = torch._C._nn.gelu(tmp_26)
        tmp_26 = None
        tmp_28 = torch.nn.functional.layer_norm(tmp_27, (768,), in_18, in_19, 1e-12)
        in_18 = in_19 = tmp_27 = None
        tmp_29 = torch.nn.functional.dropout(tmp_28, 0.1, False, False)
        tmp_28 = None
        tmp_30 = in_20.to(device=device(type='cpu'), dtype=torch.bool)
        in_20 = None
        tmp_31 = torch.arange(2, device=device(type='cpu'))
        tmp_32 = torch.arange(1, device=device(type='cpu'))
        tmp_32 = None
        tmp_33 = torch.arange(64, device=device(type='cpu'))
        tmp_34 = tmp_33 + 0
        tmp_33 = None
        tmp_35 = torch.arange(64, device=device(type='cpu'))
        tmp_36 = tmp_35 + 0
        tmp_35 = None
        tmp_37 = tmp_31[slice(None, None, None), None, None, None]
        tmp_31 = None
        tmp_38 = tmp_34[None, None, slice(None, None, None), None]
        tmp_34 = None
        tmp_39 = tmp_36[None, None, None, slice(None, None, None)]
        tmp_36 = None
        tmp_40 = tmp_38.new_ones((), dtype=torch.bool)
        tmp_41 = tmp_38 >= 0
        tmp_38 = None
        tmp_42 = tmp_40 & tmp_41
        tmp_40 = tmp_41 = None
        tmp_43 = tmp_30[tmp_37, tmp_39]
        tmp_30 = tmp_37 = tmp_39 = None
        tmp_44 = tmp_42 & tmp_43
        tmp_42 = tmp_43 = None
        tmp_45 = tmp_44.expand(2, -1, 64, 64)
        tmp_44 = None
        tmp_46 = torch.zeros((), device=device(type='cpu'), dtype=torch.float32)
        tmp_47 = torch.where(tmp_45, tmp_46, -3.4028234663852886e+38)
        tmp_45 = tmp_46 = None
        tmp_48 = torch._C._nn.linear(tmp_29, in_21, in_22)
        in_21 = in_22 = None
        tmp_49 = tmp_48.view(2, -1, 12, 64)
        tmp_48 = None
        tmp_50 = tmp_49.transpose(1, 2)
        tmp_49 = None
        tmp_51 = torch._C._nn.linear(tmp_29, in_23, in_24)
        in_23 = in_24 = None
        tmp_52 = tmp_51.view(2, -1, 12, 64)
        tmp_51 = None
        tmp_53 = tmp_52.transpose(1, 2)
        tmp_52 = None
        tmp_54 = torch._C._nn.linear(tmp_29, in_25, in_26)
        in_25 = in_26 = None
        tmp_55 = tmp_54.view(2, -1, 12, 64)
        tmp_54 = None
        tmp_56 = tmp_55.transpose(1, 2)
        tmp_55 = None
        tmp_57 = tmp_50.transpose(-1, -2)
        tmp_50 = None
        tmp_58 = torch.matmul(tmp_56, tmp_57)
        tmp_56 = tmp_57 = None
        tmp_59 = tmp_58 / 8.0
        tmp_58 = None
        tmp_60 = tmp_47.to(torch.float32)
        tmp_47 = None
        tmp_61 = tmp_59 + tmp_60
        tmp_59 = tmp_60 = None
        tmp_62 = torch.nn.functional.softmax(tmp_61, dim=-1)
        tmp_61 = None
        return (tmp_16, tmp_29, tmp_53, tmp_62)
