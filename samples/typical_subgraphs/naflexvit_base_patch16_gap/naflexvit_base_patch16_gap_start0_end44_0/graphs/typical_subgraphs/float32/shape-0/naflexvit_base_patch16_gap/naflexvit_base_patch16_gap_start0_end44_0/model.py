import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22):
        tmp_0 = in_0.view(2, 3, 14, 16, 14, 16)
        in_0 = None
        tmp_1 = tmp_0.permute(0, 2, 4, 3, 5, 1)
        tmp_0 = None
        tmp_2 = tmp_1.reshape(2, 196, 768)
        tmp_1 = None
        tmp_3 = tmp_2.flatten(2)
        tmp_2 = None
        tmp_4 = torch._C._nn.linear(tmp_3, in_1, in_2)
        in_1 = in_2 = tmp_3 = None
        tmp_5 = in_3.permute(0, 3, 1, 2)
        in_3 = None
        tmp_6 = tmp_5.float()
        tmp_5 = None
        tmp_7 = torch.nn.functional.interpolate(tmp_6, size=(14, 14), mode='bicubic', align_corners=False, antialias=True)
        tmp_6 = None
        tmp_8 = tmp_7[slice(None, None, None), slice(None, None, None), slice(None, 14, None), slice(None, 14, None)]
        tmp_7 = None
        tmp_9 = tmp_8.flatten(2)
        tmp_8 = None
        tmp_10 = tmp_9.transpose(1, 2)
        tmp_9 = None
        tmp_11 = tmp_10.to(dtype=torch.float32)
        tmp_10 = None
        tmp_12 = tmp_4.add_(tmp_11)
        tmp_11 = tmp_12 = None
        tmp_13 = in_4.expand(2, -1, -1)
        in_4 = None
        tmp_14 = torch.cat([tmp_13, tmp_4], dim=1)
        tmp_4 = tmp_13 = None
        tmp_15 = torch.nn.functional.dropout(tmp_14, 0.0, False, False)
        tmp_14 = None
        tmp_16 = torch.nn.functional.layer_norm(tmp_15, (768,), in_5, in_6, 1e-06)
        in_5 = in_6 = None
        tmp_17 = torch._C._nn.linear(tmp_16, in_7, in_8)
        in_7 = in_8 = tmp_16 = None
        tmp_18 = tmp_17.reshape(2, 200, 3, 12, 64)
        tmp_17 = None
        tmp_19 = tmp_18.permute(2, 0, 3, 1, 4)
        tmp_18 = None
        tmp_20 = tmp_19.unbind(0)
        tmp_19 = None
        tmp_21 = tmp_20[0]
        tmp_22 = tmp_20[1]
        tmp_23 = tmp_20[2]
        tmp_20 = None
        tmp_24 = torch._C._nn.scaled_dot_product_attention(tmp_21, tmp_22, tmp_23, attn_mask=None, dropout_p=0.0, is_causal=False)
        tmp_21 = tmp_22 = tmp_23 = None
        tmp_25 = tmp_24.transpose(1, 2)
        tmp_24 = None
        tmp_26 = tmp_25.reshape(2, 200, 768)
        tmp_25 = None
        tmp_27 = torch._C._nn.linear(tmp_26, in_9, in_10)
        in_9 = in_10 = tmp_26 = None
        tmp_28 = torch.nn.functional.dropout(tmp_27, 0.0, False, False)
        tmp_27 = None
        tmp_29 = tmp_28 * in_11
        in_11 = tmp_28 = None
        tmp_30 = tmp_15 + tmp_29
        tmp_15 = tmp_29 = None
        tmp_31 = torch.nn.functional.layer_norm(tmp_30, (768,), in_12, in_13, 1e-06)
        in_12 = in_13 = None
        tmp_32 = torch._C._nn.linear(tmp_31, in_14, in_15)
        in_14 = in_15 = tmp_31 = None
        tmp_33 = torch._C._nn.gelu(tmp_32, approximate='none')
        tmp_32 = None
        tmp_34 = torch.nn.functional.dropout(tmp_33, 0.0, False, False)
        tmp_33 = None
        tmp_35 = torch._C._nn.linear(tmp_34, in_16, in_17)
        in_16 = in_17 = tmp_34 = None
        tmp_36 = torch.nn.functional.dropout(tmp_35, 0.0, False, False)
        tmp_35 = None
        tmp_37 = tmp_36 * in_18
        in_18 = tmp_36 = None
        tmp_38 = tmp_30 + tmp_37
        tmp_30 = tmp_37 = None
        tmp_39 = tmp_38[slice(None, None, None), slice(4, None, None)]
        tmp_38 = None
        tmp_40 = tmp_39.mean(dim=1)
        tmp_39 = None
        tmp_41 = torch.nn.functional.layer_norm(tmp_40, (768,), in_19, in_20, 1e-06)
        in_19 = in_20 = tmp_40 = None
        tmp_42 = torch.nn.functional.dropout(tmp_41, 0.0, False, False)
        tmp_41 = None
        tmp_43 = torch._C._nn.linear(tmp_42, in_21, in_22)
        in_21 = in_22 = tmp_42 = None
        return (tmp_43,)
