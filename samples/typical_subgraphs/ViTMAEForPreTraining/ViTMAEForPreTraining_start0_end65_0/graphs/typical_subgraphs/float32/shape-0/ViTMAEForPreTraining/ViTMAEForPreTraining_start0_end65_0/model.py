import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (16, 16), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.flatten(2)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = in_3[slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_4 = tmp_2 + tmp_3
        tmp_2 = tmp_3 = None
        tmp_5 = torch.argsort(in_4, dim=1)
        in_4 = None
        tmp_6 = torch.argsort(tmp_5, dim=1)
        tmp_7 = tmp_5[slice(None, None, None), slice(None, 49, None)]
        tmp_5 = None
        tmp_8 = tmp_7.unsqueeze(-1)
        tmp_7 = None
        tmp_9 = tmp_8.repeat(1, 1, 768)
        tmp_8 = None
        tmp_10 = torch.gather(tmp_4, dim=1, index=tmp_9)
        tmp_4 = tmp_9 = None
        tmp_11 = torch.ones([2, 196], device=device(type='cpu'))
        tmp_11[slice(None, None, None), slice(None, 49, None)] = 0
        tmp_12 = torch.gather(tmp_11, dim=1, index=tmp_6)
        tmp_11 = None
        tmp_13 = in_3[slice(None, None, None), slice(None, 1, None), slice(None, None, None)]
        in_3 = None
        tmp_14 = in_5 + tmp_13
        in_5 = tmp_13 = None
        tmp_15 = tmp_14.expand(2, -1, -1)
        tmp_14 = None
        tmp_16 = torch.cat((tmp_15, tmp_10), dim=1)
        tmp_10 = tmp_15 = None
        tmp_17 = torch.arange(2, device=device(type='cpu'))
        tmp_17 = None
        tmp_18 = torch.arange(1, device=device(type='cpu'))
        tmp_18 = None
        tmp_19 = torch.arange(50, device=device(type='cpu'))
        tmp_20 = tmp_19 + 0
        tmp_19 = None
        tmp_21 = torch.arange(50, device=device(type='cpu'))
        tmp_22 = tmp_21 + 0
        tmp_21 = tmp_22 = None
        tmp_23 = tmp_20[None, None, slice(None, None, None), None]
        tmp_20 = None
        tmp_24 = tmp_23 >= 0
        tmp_23 = None
        tmp_25 = tmp_24.expand(2, -1, 50, 50)
        tmp_24 = None
        tmp_26 = torch.nn.functional.layer_norm(tmp_16, (768,), in_6, in_7, 1e-12)
        in_6 = in_7 = None
        tmp_27 = torch._C._nn.linear(tmp_26, in_8, in_9)
        in_8 = in_9 = None
        tmp_28 = tmp_27.view((2, 50, -1, 64))
        tmp_27 = None
        tmp_29 = tmp_28.transpose(1, 2)
        tmp_28 = None
        tmp_30 = torch._C._nn.linear(tmp_26, in_10, in_11)
        in_10 = in_11 = None
        tmp_31 = tmp_30.view((2, 50, -1, 64))
        tmp_30 = None
        tmp_32 = tmp_31.transpose(1, 2)
        tmp_31 = None
        tmp_33 = torch._C._nn.linear(tmp_26, in_12, in_13)
        in_12 = in_13 = tmp_26 = None
        tmp_34 = tmp_33.view((2, 50, -1, 64))
        tmp_33 = None
        tmp_35 = tmp_34.transpose(1, 2)
        tmp_34 = None
        tmp_36 = torch._C._nn.scaled_dot_product_attention(tmp_29, tmp_32, tmp_35, attn_mask=tmp_25, dropout_p=0.0, scale=0.125, is_causal=False)
        tmp_29 = tmp_32 = tmp_35 = None
        tmp_37 = tmp_36.reshape(2, -1, 50, 64)
        tmp_36 = None
        tmp_38 = tmp_37.transpose(1, 2)
        tmp_37 = None
        tmp_39 = tmp_38.contiguous()
        tmp_38 = None
        tmp_40 = tmp_39.reshape(2, 50, -1)
        tmp_39 = None
        tmp_41 = tmp_40.contiguous()
        tmp_40 = None
        tmp_42 = torch._C._nn.linear(tmp_41, in_14, in_15)
        in_14 = in_15 = tmp_41 = None
        tmp_43 = torch.nn.functional.dropout(tmp_42, 0.0, False, False)
        tmp_42 = None
        tmp_44 = tmp_43 + tmp_16
        tmp_16 = tmp_43 = None
        tmp_45 = torch.nn.functional.layer_norm(tmp_44, (768,), in_16, in_17, 1e-12)
        in_16 = in_17 = None
        tmp_46 = torch._C._nn.linear(tmp_45, in_18, in_19)
        in_18 = in_19 = tmp_45 = None
        tmp_47 = torch._C._nn.gelu(tmp_46)
        tmp_46 = None
        tmp_48 = torch._C._nn.linear(tmp_47, in_20, in_21)
        in_20 = in_21 = tmp_47 = None
        tmp_49 = torch.nn.functional.dropout(tmp_48, 0.0, False, False)
        tmp_48 = None
        tmp_50 = tmp_49 + tmp_44
        tmp_44 = tmp_49 = None
        tmp_51 = torch.nn.functional.layer_norm(tmp_50, (768,), in_22, in_23, 1e-12)
        in_22 = in_23 = None
        tmp_52 = torch._C._nn.linear(tmp_51, in_24, in_25)
        in_24 = in_25 = None
        tmp_53 = tmp_52.view((2, 50, -1, 64))
        tmp_52 = None
        tmp_54 = tmp_53.transpose(1, 2)
        tmp_53 = None
        tmp_55 = torch._C._nn.linear(tmp_51, in_26, in_27)
        in_26 = in_27 = None
        tmp_56 = tmp_55.view((2, 50, -1, 64))
        tmp_55 = None
        tmp_57 = tmp_56.transpose(1, 2)
        tmp_56 = None
        tmp_58 = torch._C._nn.linear(tmp_51, in_28, in_29)
        in_28 = in_29 = tmp_51 = None
        tmp_59 = tmp_58.view((2, 50, -1, 64))
        tmp_58 = None
        tmp_60 = tmp_59.transpose(1, 2)
        tmp_59 = None
        tmp_61 = torch._C._nn.scaled_dot_product_attention(tmp_54, tmp_57, tmp_60, attn_mask=tmp_25, dropout_p=0.0, scale=0.125, is_causal=False)
        tmp_25 = tmp_54 = tmp_57 = tmp_60 = None
        return (tmp_6, tmp_12, tmp_50, tmp_61)
