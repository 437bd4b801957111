import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (16, 16), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.flatten(2)
        tmp_0 = None
        tmp_2 = tmp_1.transpose(1, 2)
        tmp_1 = None
        tmp_3 = tmp_2 + in_3
        in_3 = tmp_2 = None
        tmp_4 = torch.nn.functional.dropout(tmp_3, 0.0, False, False)
        tmp_3 = None
        tmp_5 = torch.nn.functional.layer_norm(tmp_4, (192,), in_4, in_5, 1e-06)
        in_4 = in_5 = None
        tmp_6 = torch._C._nn.linear(tmp_5, in_6, None)
        in_6 = None
        tmp_7 = tmp_6.reshape(2, 196, 2, 4, 48)
        tmp_6 = None
        tmp_8 = tmp_7.permute(2, 0, 3, 1, 4)
        tmp_7 = None
        tmp_9 = tmp_8[0]
        tmp_10 = tmp_8[1]
        tmp_8 = None
        tmp_11 = in_7.expand(2, -1, -1, -1)
        in_7 = None
        tmp_12 = torch._C._nn.linear(tmp_11, in_8, in_9)
        in_8 = in_9 = tmp_11 = None
        tmp_13 = tmp_12.permute(0, 3, 1, 2)
        tmp_12 = None
        tmp_14 = tmp_10.transpose(-2, -1)
        tmp_10 = None
        tmp_15 = tmp_9 @ tmp_14
        tmp_9 = tmp_14 = None
        tmp_16 = tmp_15 * 0.14433756729740643
        tmp_15 = None
        tmp_17 = tmp_16.softmax(dim=-1)
        tmp_16 = None
        tmp_18 = tmp_13.softmax(dim=-1)
        tmp_13 = None
        tmp_19 = in_10.view(1, -1, 1, 1)
        in_10 = None
        tmp_20 = torch.sigmoid(tmp_19)
        tmp_21 = 1.0 - tmp_20
        tmp_20 = None
        tmp_22 = tmp_21 * tmp_17
        tmp_17 = tmp_21 = None
        tmp_23 = torch.sigmoid(tmp_19)
        tmp_19 = None
        tmp_24 = tmp_23 * tmp_18
        tmp_18 = tmp_23 = None
        tmp_25 = tmp_22 + tmp_24
        tmp_22 = tmp_24 = None
        tmp_26 = tmp_25.sum(dim=-1)
        tmp_27 = tmp_26.unsqueeze(-1)
        tmp_26 = None
        tmp_25 /= tmp_27
        tmp_28 = tmp_25
        tmp_25 = tmp_27 = None
        tmp_29 = torch.nn.functional.dropout(tmp_28, 0.0, False, False)
        tmp_28 = None
        tmp_30 = torch._C._nn.linear(tmp_5, in_11, None)
        in_11 = tmp_5 = None
        tmp_31 = tmp_30.reshape(2, 196, 4, 48)
        tmp_30 = None
        tmp_32 = tmp_31.permute(0, 2, 1, 3)
        tmp_31 = None
        tmp_33 = tmp_29 @ tmp_32
        tmp_29 = tmp_32 = None
        tmp_34 = tmp_33.transpose(1, 2)
        tmp_33 = None
        tmp_35 = tmp_34.reshape(2, 196, 192)
        tmp_34 = None
        tmp_36 = torch._C._nn.linear(tmp_35, in_12, in_13)
        in_12 = in_13 = tmp_35 = None
        tmp_37 = torch.nn.functional.dropout(tmp_36, 0.0, False, False)
        tmp_36 = None
        tmp_38 = tmp_4 + tmp_37
        tmp_4 = tmp_37 = None
        tmp_39 = torch.nn.functional.layer_norm(tmp_38, (192,), in_14, in_15, 1e-06)
        in_14 = in_15 = None
        tmp_40 = torch._C._nn.linear(tmp_39, in_16, in_17)
        in_16 = in_17 = tmp_39 = None
        tmp_41 = torch._C._nn.gelu(tmp_40, approximate='none')
        tmp_40 = None
        tmp_42 = torch.nn.functional.dropout(tmp_41, 0.0, False, False)
        tmp_41 = None
        tmp_43 = torch._C._nn.linear(tmp_42, in_18, in_19)
        in_18 = in_19 = tmp_42 = None
        tmp_44 = torch.nn.functional.dropout(tmp_43, 0.0, False, False)
        tmp_43 = None
        tmp_45 = tmp_38 + tmp_44
        tmp_38 = tmp_44 = None
        tmp_46 = torch.nn.functional.layer_norm(tmp_45, (192,), in_20, in_21, 1e-06)
        in_20 = in_21 = None
        tmp_47 = torch._C._nn.linear(tmp_46, in_22, None)
        in_22 = None
        tmp_48 = tmp_47.reshape(2, 196, 2, 4, 48)
        tmp_47 = None
        tmp_49 = tmp_48.permute(2, 0, 3, 1, 4)
        tmp_48 = None
        tmp_50 = tmp_49[0]
        tmp_51 = tmp_49[1]
        tmp_49 = None
        tmp_52 = in_23.expand(2, -1, -1, -1)
        in_23 = None
        tmp_53 = torch._C._nn.linear(tmp_52, in_24, in_25)
        in_24 = in_25 = tmp_52 = None
        tmp_54 = tmp_53.permute(0, 3, 1, 2)
        tmp_53 = None
        tmp_55 = tmp_51.transpose(-2, -1)
        tmp_51 = None
        tmp_56 = tmp_50 @ tmp_55
        tmp_50 = tmp_55 = None
        tmp_57 = tmp_56 * 0.14433756729740643
        tmp_56 = None
        tmp_58 = tmp_57.softmax(dim=-1)
        tmp_57 = None
        tmp_59 = tmp_54.softmax(dim=-1)
        tmp_54 = None
        tmp_60 = in_26.view(1, -1, 1, 1)
        in_26 = None
        tmp_61 = torch.sigmoid(tmp_60)
        tmp_62 = 1.0 - tmp_61
        tmp_61 = None
        return (tmp_45, tmp_46, tmp_58, tmp_59, tmp_60, tmp_62)
