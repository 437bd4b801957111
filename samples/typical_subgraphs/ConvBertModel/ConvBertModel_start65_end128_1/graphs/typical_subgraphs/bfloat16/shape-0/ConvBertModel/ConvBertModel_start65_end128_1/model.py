import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31):
        tmp_0 = in_0.to(torch.bfloat16)
        in_0 = None
        tmp_1 = torch.matmul(tmp_0, in_1)
        in_1 = tmp_0 = None
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        tmp_1 = None
        tmp_3 = tmp_2.contiguous()
        tmp_2 = None
        tmp_4 = torch.reshape(in_2, [2, -1, 6, 64])
        in_2 = None
        tmp_5 = torch.cat([tmp_3, tmp_4], 2)
        tmp_3 = tmp_4 = None
        tmp_6 = tmp_5.view(2, 32, 768)
        tmp_5 = None
        tmp_7 = torch._C._nn.linear(tmp_6, in_3, in_4)
        in_3 = in_4 = tmp_6 = None
        tmp_8 = torch.nn.functional.dropout(tmp_7, 0.1, False, False)
        tmp_7 = None
        tmp_9 = tmp_8 + in_5
        in_5 = tmp_8 = None
        tmp_10 = torch.nn.functional.layer_norm(tmp_9, (768,), in_6, in_7, 1e-12)
        in_6 = in_7 = tmp_9 = None
        tmp_11 = torch._C._nn.linear(tmp_10, in_8, in_9)
        in_8 = in_9 = None
        tmp_12 = torch._C._nn.gelu(tmp_11)
        tmp_11 = None
        tmp_13 = torch._C._nn.linear(tmp_12, in_10, in_11)
        in_10 = in_11 = tmp_12 = None
        tmp_14 = torch.nn.functional.dropout(tmp_13, 0.1, False, False)
        tmp_13 = None
        tmp_15 = tmp_14 + tmp_10
        tmp_10 = tmp_14 = None
        tmp_16 = torch.nn.functional.layer_norm(tmp_15, (768,), in_12, in_13, 1e-12)
        in_12 = in_13 = tmp_15 = None
        tmp_17 = torch._C._nn.linear(tmp_16, in_14, in_15)
        in_14 = in_15 = None
        tmp_18 = torch._C._nn.linear(tmp_16, in_16, in_17)
        in_16 = in_17 = None
        tmp_19 = tmp_16.transpose(1, 2)
        tmp_20 = torch.conv1d(tmp_19, in_18, None, (1,), (4,), (1,), 768)
        in_18 = tmp_19 = None
        tmp_21 = torch.conv1d(tmp_20, in_19, None, (1,), (0,), (1,), 1)
        in_19 = tmp_20 = None
        tmp_21 += in_20
        tmp_22 = tmp_21
        in_20 = tmp_21 = None
        tmp_23 = tmp_22.transpose(1, 2)
        tmp_22 = None
        tmp_24 = torch._C._nn.linear(tmp_16, in_21, in_22)
        in_21 = in_22 = None
        tmp_25 = tmp_24.view((2, 32, -1, 64))
        tmp_26 = tmp_25.transpose(1, 2)
        tmp_25 = None
        tmp_27 = tmp_17.view((2, 32, -1, 64))
        tmp_17 = None
        tmp_28 = tmp_27.transpose(1, 2)
        tmp_27 = None
        tmp_29 = tmp_18.view((2, 32, -1, 64))
        tmp_18 = None
        tmp_30 = tmp_29.transpose(1, 2)
        tmp_29 = None
        tmp_31 = torch.multiply(tmp_23, tmp_24)
        tmp_23 = tmp_24 = None
        tmp_32 = torch._C._nn.linear(tmp_31, in_23, in_24)
        in_23 = in_24 = tmp_31 = None
        tmp_33 = torch.reshape(tmp_32, [-1, 9, 1])
        tmp_32 = None
        tmp_34 = torch.softmax(tmp_33, dim=1)
        tmp_33 = None
        tmp_35 = torch._C._nn.linear(tmp_16, in_25, in_26)
        in_25 = in_26 = None
        tmp_36 = torch.reshape(tmp_35, [2, -1, 384])
        tmp_35 = None
        tmp_37 = tmp_36.transpose(1, 2)
        tmp_36 = None
        tmp_38 = tmp_37.contiguous()
        tmp_37 = None
        tmp_39 = tmp_38.unsqueeze(-1)
        tmp_38 = None
        tmp_40 = torch.nn.functional.unfold(tmp_39, kernel_size=[9, 1], dilation=1, padding=[4, 0], stride=1)
        tmp_39 = None
        tmp_41 = tmp_40.transpose(1, 2)
        tmp_40 = None
        tmp_42 = tmp_41.reshape(2, -1, 384, 9)
        tmp_41 = None
        tmp_43 = torch.reshape(tmp_42, [-1, 64, 9])
        tmp_42 = None
        tmp_44 = torch.matmul(tmp_43, tmp_34)
        tmp_34 = tmp_43 = None
        tmp_45 = torch.reshape(tmp_44, [-1, 384])
        tmp_44 = None
        tmp_46 = tmp_28.transpose(-1, -2)
        tmp_28 = None
        tmp_47 = torch.matmul(tmp_26, tmp_46)
        tmp_26 = tmp_46 = None
        tmp_48 = tmp_47 / 8.0
        tmp_47 = None
        tmp_49 = tmp_48 + in_27
        in_27 = tmp_48 = None
        tmp_50 = torch.nn.functional.softmax(tmp_49, dim=-1)
        tmp_49 = None
        tmp_51 = torch.nn.functional.dropout(tmp_50, 0.1, False, False)
        tmp_50 = None
        tmp_52 = tmp_51.to(torch.bfloat16)
        tmp_51 = None
        tmp_53 = torch.matmul(tmp_52, tmp_30)
        tmp_30 = tmp_52 = None
        tmp_54 = tmp_53.permute(0, 2, 1, 3)
        tmp_53 = None
        tmp_55 = tmp_54.contiguous()
        tmp_54 = None
        tmp_56 = torch.reshape(tmp_45, [2, -1, 6, 64])
        tmp_45 = None
        tmp_57 = torch.cat([tmp_55, tmp_56], 2)
        tmp_55 = tmp_56 = None
        tmp_58 = tmp_57.view(2, 32, 768)
        tmp_57 = None
        tmp_59 = torch._C._nn.linear(tmp_58, in_28, in_29)
        in_28 = in_29 = tmp_58 = None
        tmp_60 = torch.nn.functional.dropout(tmp_59, 0.1, False, False)
        tmp_59 = None
        tmp_61 = tmp_60 + tmp_16
        tmp_16 = tmp_60 = None
        tmp_62 = torch.nn.functional.layer_norm(tmp_61, (768,), in_30, in_31, 1e-12)
        in_30 = in_31 = tmp_61 = None
        return (tmp_62,)
