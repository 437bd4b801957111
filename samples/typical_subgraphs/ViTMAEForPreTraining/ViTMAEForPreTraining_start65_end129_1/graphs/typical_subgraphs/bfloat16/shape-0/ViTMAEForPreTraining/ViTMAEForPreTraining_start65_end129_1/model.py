import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31, in_32, in_33, in_34, in_35, in_36, in_37, in_38):
        tmp_0 = in_0.reshape(2, -1, 50, 64)
        in_0 = None
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_0 = None
        tmp_2 = tmp_1.contiguous()
        tmp_1 = None
        tmp_3 = tmp_2.reshape(2, 50, -1)
        tmp_2 = None
        tmp_4 = tmp_3.contiguous()
        tmp_3 = None
        tmp_5 = torch._C._nn.linear(tmp_4, in_1, in_2)
        in_1 = in_2 = tmp_4 = None
        tmp_6 = torch.nn.functional.dropout(tmp_5, 0.0, False, False)
        tmp_5 = None
        tmp_7 = tmp_6 + in_3
        in_3 = tmp_6 = None
        tmp_8 = torch.nn.functional.layer_norm(tmp_7, (768,), in_4, in_5, 1e-12)
        in_4 = in_5 = None
        tmp_9 = torch._C._nn.linear(tmp_8, in_6, in_7)
        in_6 = in_7 = tmp_8 = None
        tmp_10 = torch._C._nn.gelu(tmp_9)
        tmp_9 = None
        tmp_11 = torch._C._nn.linear(tmp_10, in_8, in_9)
        in_8 = in_9 = tmp_10 = None
        tmp_12 = torch.nn.functional.dropout(tmp_11, 0.0, False, False)
        tmp_11 = None
        tmp_13 = tmp_12 + tmp_7
        tmp_7 = tmp_12 = None
        tmp_14 = torch.nn.functional.layer_norm(tmp_13, (768,), in_10, in_11, 1e-12)
        in_10 = in_11 = tmp_13 = None
        tmp_15 = torch._C._nn.linear(tmp_14, in_12, in_13)
        in_12 = in_13 = tmp_14 = None
        tmp_16 = in_14.repeat(2, 147, 1)
        in_14 = None
        tmp_17 = tmp_15[slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_18 = torch.cat([tmp_17, tmp_16], dim=1)
        tmp_16 = tmp_17 = None
        tmp_19 = in_15.unsqueeze(-1)
        in_15 = None
        tmp_20 = tmp_19.repeat(1, 1, 512)
        tmp_19 = None
        tmp_21 = torch.gather(tmp_18, dim=1, index=tmp_20)
        tmp_18 = tmp_20 = None
        tmp_22 = tmp_15[slice(None, None, None), slice(None, 1, None), slice(None, None, None)]
        tmp_15 = None
        tmp_23 = torch.cat([tmp_22, tmp_21], dim=1)
        tmp_21 = tmp_22 = None
        tmp_24 = tmp_23 + in_16
        in_16 = tmp_23 = None
        tmp_25 = torch.nn.functional.layer_norm(tmp_24, (512,), in_17, in_18, 1e-12)
        in_17 = in_18 = None
        tmp_26 = torch._C._nn.linear(tmp_25, in_19, in_20)
        in_19 = in_20 = None
        tmp_27 = tmp_26.view((2, 197, -1, 32))
        tmp_26 = None
        tmp_28 = tmp_27.transpose(1, 2)
        tmp_27 = None
        tmp_29 = torch._C._nn.linear(tmp_25, in_21, in_22)
        in_21 = in_22 = None
        tmp_30 = tmp_29.view((2, 197, -1, 32))
        tmp_29 = None
        tmp_31 = tmp_30.transpose(1, 2)
        tmp_30 = None
        tmp_32 = torch._C._nn.linear(tmp_25, in_23, in_24)
        in_23 = in_24 = tmp_25 = None
        tmp_33 = tmp_32.view((2, 197, -1, 32))
        tmp_32 = None
        tmp_34 = tmp_33.transpose(1, 2)
        tmp_33 = None
        tmp_35 = torch._C._nn.scaled_dot_product_attention(tmp_28, tmp_31, tmp_34, attn_mask=None, dropout_p=0.0, scale=0.1767766952966369, is_causal=False)
        tmp_28 = tmp_31 = tmp_34 = None
        tmp_36 = tmp_35.reshape(2, -1, 197, 32)
        tmp_35 = None
        tmp_37 = tmp_36.transpose(1, 2)
        tmp_36 = None
        tmp_38 = tmp_37.contiguous()
        tmp_37 = None
        tmp_39 = tmp_38.reshape(2, 197, -1)
        tmp_38 = None
        tmp_40 = tmp_39.contiguous()
        tmp_39 = None
        tmp_41 = torch._C._nn.linear(tmp_40, in_25, in_26)
        in_25 = in_26 = tmp_40 = None
        tmp_42 = torch.nn.functional.dropout(tmp_41, 0.0, False, False)
        tmp_41 = None
        tmp_43 = tmp_42 + tmp_24
        tmp_24 = tmp_42 = None
        tmp_44 = torch.nn.functional.layer_norm(tmp_43, (512,), in_27, in_28, 1e-12)
        in_27 = in_28 = None
        tmp_45 = torch._C._nn.linear(tmp_44, in_29, in_30)
        in_29 = in_30 = tmp_44 = None
        tmp_46 = torch._C._nn.gelu(tmp_45)
        tmp_45 = None
        tmp_47 = torch._C._nn.linear(tmp_46, in_31, in_32)
        in_31 = in_32 = tmp_46 = None
        tmp_48 = torch.nn.functional.dropout(tmp_47, 0.0, False, False)
        tmp_47 = None
        tmp_49 = tmp_48 + tmp_43
        tmp_43 = tmp_48 = None
        tmp_50 = torch.nn.functional.layer_norm(tmp_49, (512,), in_33, in_34, 1e-12)
        in_33 = in_34 = tmp_49 = None
        tmp_51 = torch._C._nn.linear(tmp_50, in_35, in_36)
        in_35 = in_36 = tmp_50 = None
        tmp_52 = tmp_51[slice(None, None, None), slice(1, None, None), slice(None, None, None)]
        tmp_51 = None
        tmp_53 = in_37.reshape(2, 3, 14, 16, 14, 16)
        in_37 = None
        tmp_54 = tmp_53.permute(0, 2, 4, 3, 5, 1)
        tmp_53 = None
        tmp_55 = tmp_54.reshape(2, 196, 768)
        tmp_54 = None
        tmp_56 = tmp_52 - tmp_55
        tmp_55 = None
        tmp_57 = tmp_56 ** 2
        tmp_56 = None
        tmp_58 = tmp_57.mean(dim=-1)
        tmp_57 = None
        tmp_59 = tmp_58 * in_38
        tmp_58 = None
        tmp_60 = tmp_59.sum()
        tmp_59 = None
        tmp_61 = in_38.sum()
        in_38 = None
        tmp_62 = tmp_60 / tmp_61
        tmp_60 = tmp_61 = None
        return (tmp_52, tmp_62)
