import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31, in_32, in_33, in_34, in_35, in_36, in_37, in_38):
        tmp_0 = in_0 - 1.0
        in_0 = None
        tmp_1 = in_1 * tmp_0
        in_1 = tmp_0 = None
        tmp_2 = tmp_1 + 2.0
        tmp_1 = None
        tmp_3 = tmp_2.view(24, -1, 1)
        tmp_2 = None
        tmp_4 = tmp_3 * in_2
        tmp_3 = None
        tmp_5 = tmp_4.view((-1, 24, 24))
        tmp_4 = None
        tmp_6 = in_3.transpose(0, 1)
        tmp_7 = torch.empty([0])
        tmp_8 = torch.cat((in_4, in_5, in_6))
        in_4 = in_5 = in_6 = None
        tmp_9 = tmp_7.to(torch.float16)
        tmp_7 = None
        tmp_10 = torch.nn.functional.multi_head_attention_forward(tmp_6, tmp_6, tmp_6, 768, 12, tmp_9, tmp_8, None, None, False, 0.1, in_7, in_8, False, None, need_weights=True, attn_mask=tmp_5, use_separate_proj_weight=True, q_proj_weight=in_9, k_proj_weight=in_10, v_proj_weight=in_11)
        in_7 = in_8 = in_9 = in_10 = in_11 = tmp_5 = tmp_6 = tmp_8 = tmp_9 = None
        tmp_11 = tmp_10[0]
        tmp_12 = tmp_11.transpose(0, 1)
        tmp_11 = None
        tmp_13 = tmp_10[1]
        tmp_10 = None
        tmp_14 = tmp_13[slice(None, None, None), None]
        tmp_13 = None
        tmp_15 = tmp_14.broadcast_to((2, 12, 24, 24))
        tmp_14 = tmp_15 = None
        tmp_16 = torch.nn.functional.dropout(tmp_12, 0.1, False, False)
        tmp_12 = None
        tmp_17 = in_3 + tmp_16
        in_3 = tmp_16 = None
        tmp_18 = torch.nn.functional.layer_norm(tmp_17, (768,), in_12, in_13, 1e-05)
        in_12 = in_13 = tmp_17 = None
        tmp_19 = torch._C._nn.linear(tmp_18, in_14, in_15)
        in_14 = in_15 = None
        tmp_20 = torch._C._nn.gelu(tmp_19)
        tmp_19 = None
        tmp_21 = torch.nn.functional.dropout(tmp_20, 0.1, False, False)
        tmp_20 = None
        tmp_22 = torch._C._nn.linear(tmp_21, in_16, in_17)
        in_16 = in_17 = tmp_21 = None
        tmp_23 = torch.nn.functional.dropout(tmp_22, 0.1, False, False)
        tmp_22 = None
        tmp_24 = tmp_18 + tmp_23
        tmp_18 = tmp_23 = None
        tmp_25 = torch.nn.functional.layer_norm(tmp_24, (768,), in_18, in_19, 1e-05)
        in_18 = in_19 = tmp_24 = None
        tmp_26 = tmp_25.view((2, 24, 12, -1))
        tmp_27 = tmp_26.permute(0, 2, 1, 3)
        tmp_26 = None
        tmp_28 = torch._C._nn.linear(tmp_27, in_20, in_21)
        in_20 = in_21 = tmp_27 = None
        tmp_29 = tmp_28.view((2, 12, 24, 2, 4))
        tmp_28 = None
        tmp_30 = tmp_29.sum(-1)
        tmp_29 = None
        tmp_31 = torch.sigmoid(tmp_30)
        tmp_30 = None
        tmp_32 = tmp_31.chunk(2, dim=-1)
        tmp_31 = None
        tmp_33 = tmp_32[1]
        tmp_34 = tmp_33 * in_22
        in_22 = tmp_33 = None
        tmp_35 = tmp_34 - 1.0
        tmp_34 = None
        tmp_36 = tmp_32[0]
        tmp_32 = None
        tmp_37 = tmp_36 * tmp_35
        tmp_35 = tmp_36 = None
        tmp_38 = tmp_37 + 2.0
        tmp_37 = None
        tmp_39 = tmp_38.view(24, -1, 1)
        tmp_38 = None
        tmp_40 = tmp_39 * in_2
        in_2 = tmp_39 = None
        tmp_41 = tmp_40.view((-1, 24, 24))
        tmp_40 = None
        tmp_42 = tmp_25.transpose(0, 1)
        tmp_43 = torch.empty([0])
        tmp_44 = torch.cat((in_23, in_24, in_25))
        in_23 = in_24 = in_25 = None
        tmp_45 = tmp_43.to(torch.float16)
        tmp_43 = None
        tmp_46 = torch.nn.functional.multi_head_attention_forward(tmp_42, tmp_42, tmp_42, 768, 12, tmp_45, tmp_44, None, None, False, 0.1, in_26, in_27, False, None, need_weights=True, attn_mask=tmp_41, use_separate_proj_weight=True, q_proj_weight=in_28, k_proj_weight=in_29, v_proj_weight=in_30)
        in_26 = in_27 = in_28 = in_29 = in_30 = tmp_41 = tmp_42 = tmp_44 = tmp_45 = None
        tmp_47 = tmp_46[0]
        tmp_48 = tmp_47.transpose(0, 1)
        tmp_47 = None
        tmp_49 = tmp_46[1]
        tmp_46 = None
        tmp_50 = tmp_49[slice(None, None, None), None]
        tmp_49 = None
        tmp_51 = tmp_50.broadcast_to((2, 12, 24, 24))
        tmp_50 = tmp_51 = None
        tmp_52 = torch.nn.functional.dropout(tmp_48, 0.1, False, False)
        tmp_48 = None
        tmp_53 = tmp_25 + tmp_52
        tmp_25 = tmp_52 = None
        tmp_54 = torch.nn.functional.layer_norm(tmp_53, (768,), in_31, in_32, 1e-05)
        in_31 = in_32 = tmp_53 = None
        tmp_55 = torch._C._nn.linear(tmp_54, in_33, in_34)
        in_33 = in_34 = None
        tmp_56 = torch._C._nn.gelu(tmp_55)
        tmp_55 = None
        tmp_57 = torch.nn.functional.dropout(tmp_56, 0.1, False, False)
        tmp_56 = None
        tmp_58 = torch._C._nn.linear(tmp_57, in_35, in_36)
        in_35 = in_36 = tmp_57 = None
        tmp_59 = torch.nn.functional.dropout(tmp_58, 0.1, False, False)
        tmp_58 = None
        tmp_60 = tmp_54 + tmp_59
        tmp_54 = tmp_59 = None
        tmp_61 = torch.nn.functional.layer_norm(tmp_60, (768,), in_37, in_38, 1e-05)
        in_37 = in_38 = tmp_60 = None
        return (tmp_61,)
