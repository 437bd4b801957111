import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31, in_32, in_33):
        tmp_0 = torch.ones_like(in_0)
        tmp_1 = tmp_0.sum(1, keepdim=True)
        tmp_2 = tmp_1.clamp_min(1.0)
        tmp_1 = None
        tmp_3 = in_0 * tmp_0
        tmp_4 = tmp_3.sum(1, keepdim=True)
        tmp_3 = None
        tmp_5 = tmp_4 / tmp_2
        tmp_4 = None
        tmp_6 = in_0 - tmp_5
        tmp_7 = tmp_6 * tmp_0
        tmp_0 = tmp_6 = None
        tmp_8 = tmp_7 ** 2
        tmp_7 = None
        tmp_9 = tmp_8.sum(1, keepdim=True)
        tmp_8 = None
        tmp_10 = tmp_9 / tmp_2
        tmp_2 = tmp_9 = None
        tmp_11 = tmp_10 + 1e-05
        tmp_10 = None
        tmp_12 = torch.sqrt(tmp_11)
        tmp_11 = None
        tmp_13 = in_0 - tmp_5
        in_0 = None
        tmp_14 = tmp_13 / tmp_12
        tmp_13 = None
        tmp_15 = tmp_14[slice(None, None, None), slice(0, None, None), slice(None, None, None)]
        tmp_14 = None
        tmp_16 = tmp_15.unfold(dimension=-2, size=16, step=16)
        tmp_15 = None
        tmp_17 = tmp_16.transpose(-2, -3)
        tmp_16 = None
        tmp_18 = tmp_17.contiguous()
        tmp_17 = None
        tmp_19 = torch._C._nn.linear(tmp_18, in_1, in_2)
        in_1 = in_2 = None
        tmp_20 = tmp_19 + in_3
        in_3 = tmp_19 = None
        tmp_21 = tmp_20.view(14, 32, 128)
        tmp_20 = None
        tmp_22 = tmp_21.transpose(1, 2)
        tmp_23 = torch.nn.functional.batch_norm(tmp_22, in_4, in_5, in_6, in_7, False, 0.1, 1e-05)
        in_4 = in_5 = in_6 = in_7 = tmp_22 = None
        tmp_24 = tmp_23.transpose(1, 2)
        tmp_23 = None
        tmp_25 = torch._C._nn.linear(tmp_24, in_8, in_9)
        in_8 = in_9 = None
        tmp_26 = tmp_25.view((14, 32, -1, 32))
        tmp_25 = None
        tmp_27 = tmp_26.transpose(1, 2)
        tmp_26 = None
        tmp_28 = torch._C._nn.linear(tmp_24, in_10, in_11)
        in_10 = in_11 = None
        tmp_29 = tmp_28.view((14, 32, -1, 32))
        tmp_28 = None
        tmp_30 = tmp_29.transpose(1, 2)
        tmp_29 = None
        tmp_31 = torch._C._nn.linear(tmp_24, in_12, in_13)
        in_12 = in_13 = tmp_24 = None
        tmp_32 = tmp_31.view((14, 32, -1, 32))
        tmp_31 = None
        tmp_33 = tmp_32.transpose(1, 2)
        tmp_32 = None
        tmp_34 = torch._C._nn.scaled_dot_product_attention(tmp_27, tmp_30, tmp_33, attn_mask=None, dropout_p=0.0, scale=0.1767766952966369, is_causal=False)
        tmp_27 = tmp_30 = tmp_33 = None
        tmp_35 = tmp_34.reshape(14, -1, 32, 32)
        tmp_34 = None
        tmp_36 = tmp_35.transpose(1, 2)
        tmp_35 = None
        tmp_37 = tmp_36.contiguous()
        tmp_36 = None
        tmp_38 = tmp_37.reshape(14, 32, -1)
        tmp_37 = None
        tmp_39 = tmp_38.contiguous()
        tmp_38 = None
        tmp_40 = torch._C._nn.linear(tmp_39, in_14, in_15)
        in_14 = in_15 = tmp_39 = None
        tmp_41 = tmp_21 + tmp_40
        tmp_21 = tmp_40 = None
        tmp_42 = tmp_41.reshape(2, 7, 32, 128)
        tmp_41 = None
        tmp_43 = tmp_42.view(14, 32, 128)
        tmp_42 = None
        tmp_44 = tmp_43.transpose(1, 2)
        tmp_45 = torch.nn.functional.batch_norm(tmp_44, in_16, in_17, in_18, in_19, False, 0.1, 1e-05)
        in_16 = in_17 = in_18 = in_19 = tmp_44 = None
        tmp_46 = tmp_45.transpose(1, 2)
        tmp_45 = None
        tmp_47 = torch._C._nn.linear(tmp_46, in_20, in_21)
        in_20 = in_21 = tmp_46 = None
        tmp_48 = torch._C._nn.gelu(tmp_47)
        tmp_47 = None
        tmp_49 = torch._C._nn.linear(tmp_48, in_22, in_23)
        in_22 = in_23 = tmp_48 = None
        tmp_50 = tmp_43 + tmp_49
        tmp_43 = tmp_49 = None
        tmp_51 = tmp_50.reshape(2, 7, 32, 128)
        tmp_50 = None
        tmp_52 = tmp_51.view(14, 32, 128)
        tmp_51 = None
        tmp_53 = tmp_52.transpose(1, 2)
        tmp_54 = torch.nn.functional.batch_norm(tmp_53, in_24, in_25, in_26, in_27, False, 0.1, 1e-05)
        in_24 = in_25 = in_26 = in_27 = tmp_53 = None
        tmp_55 = tmp_54.transpose(1, 2)
        tmp_54 = None
        tmp_56 = torch._C._nn.linear(tmp_55, in_28, in_29)
        in_28 = in_29 = None
        tmp_57 = tmp_56.view((14, 32, -1, 32))
        tmp_56 = None
        tmp_58 = tmp_57.transpose(1, 2)
        tmp_57 = None
        tmp_59 = torch._C._nn.linear(tmp_55, in_30, in_31)
        in_30 = in_31 = None
        tmp_60 = tmp_59.view((14, 32, -1, 32))
        tmp_59 = None
        tmp_61 = tmp_60.transpose(1, 2)
        tmp_60 = None
        tmp_62 = torch._C._nn.linear(tmp_55, in_32, in_33)
        in_32 = in_33 = tmp_55 = None
        return (tmp_5, tmp_12, tmp_18, tmp_52, tmp_58, tmp_61, tmp_62)
