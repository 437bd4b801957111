import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13):
        tmp_0 = torch._C._nn.linear(in_0, in_1, in_2)
        in_1 = in_2 = None
        tmp_1 = torch._C._nn.linear(in_0, in_3, in_4)
        in_3 = in_4 = None
        tmp_2 = torch._C._nn.linear(in_0, in_5, in_6)
        in_5 = in_6 = None
        tmp_3 = tmp_0 / 8.0
        tmp_0 = None
        tmp_4 = tmp_3.view(2, 48, 16, 64)
        tmp_3 = None
        tmp_5 = tmp_4.transpose(1, 2)
        tmp_4 = None
        tmp_6 = tmp_5.contiguous()
        tmp_5 = None
        tmp_7 = tmp_1.view(2, -1, 16, 64)
        tmp_1 = None
        tmp_8 = tmp_7.transpose(1, 2)
        tmp_7 = None
        tmp_9 = tmp_8.contiguous()
        tmp_8 = None
        tmp_10 = tmp_2.view(2, -1, 16, 64)
        tmp_2 = None
        tmp_11 = tmp_10.transpose(1, 2)
        tmp_10 = None
        tmp_12 = tmp_11.contiguous()
        tmp_11 = None
        tmp_13 = tmp_6.reshape(2, 16, -1, 64)
        tmp_6 = None
        tmp_14 = tmp_9.reshape(2, 16, -1, 64)
        tmp_9 = None
        tmp_15 = tmp_12.reshape(2, 16, -1, 64)
        tmp_12 = None
        tmp_16 = in_0.chunk(3, dim=1)
        in_0 = None
        tmp_17 = tmp_13.chunk(3, dim=2)
        tmp_13 = None
        tmp_18 = tmp_14.chunk(3, dim=2)
        tmp_14 = None
        tmp_19 = tmp_15.chunk(3, dim=2)
        tmp_15 = None
        tmp_20 = tmp_18[0]
        tmp_21 = tmp_20.transpose(2, 3)
        tmp_22 = tmp_17[0]
        tmp_23 = torch.functional.einsum('bntc,bncs->bnts', tmp_22, tmp_21)
        tmp_21 = tmp_22 = None
        tmp_24 = tmp_23.view(2, 16, 16, 16)
        tmp_24 = None
        tmp_25 = tmp_16[0]
        tmp_26 = torch._C._nn.linear(tmp_25, in_7, in_8)
        tmp_25 = None
        tmp_27 = tmp_26.view((2, 16, 32, 16))
        tmp_26 = None
        tmp_28 = tmp_27.permute(0, 3, 1, 2)
        tmp_27 = None
        tmp_29 = tmp_28.reshape((2, 16, 16, -1))
        tmp_28 = None
        tmp_30 = in_9.repeat(1, 16, 1)
        in_9 = None
        tmp_31 = tmp_30.view(-1, 16)
        tmp_30 = None
        tmp_32 = tmp_31.long()
        tmp_31 = None
        tmp_33 = tmp_29.reshape(-1, 32)
        tmp_29 = None
        tmp_34 = torch.gather(tmp_33, dim=1, index=tmp_32)
        tmp_32 = tmp_33 = None
        tmp_35 = tmp_34.view(2, 16, 16, -1)
        tmp_34 = None
        tmp_36 = tmp_23 + tmp_35
        tmp_23 = tmp_35 = None
        tmp_37 = tmp_36 + in_10
        in_10 = tmp_36 = None
        tmp_38 = torch.nn.functional.softmax(tmp_37, dim=-1, dtype=torch.float32)
        tmp_39 = tmp_38.type_as(tmp_37)
        tmp_37 = tmp_38 = None
        tmp_40 = torch.nn.functional.dropout(tmp_39, p=0.1, training=False)
        tmp_39 = None
        tmp_41 = tmp_40.to(torch.bfloat16)
        tmp_42 = tmp_19[0]
        tmp_43 = torch.functional.einsum('bntc,bncs->bnts', tmp_41, tmp_42)
        tmp_41 = None
        tmp_44 = tmp_43.transpose(1, 2)
        tmp_43 = None
        tmp_45 = tmp_44.reshape(2, 1, 16, 1024)
        tmp_44 = None
        tmp_46 = torch._C._nn.linear(tmp_45, in_11, in_12)
        in_11 = in_12 = tmp_45 = None
        tmp_47 = tmp_17[1]
        tmp_48 = tmp_17[2]
        tmp_17 = None
        tmp_49 = torch.stack((tmp_47, tmp_48), 1)
        tmp_47 = tmp_48 = None
        tmp_50 = tmp_49.view(2, 2, 16, 16, 64)
        tmp_49 = None
        tmp_51 = tmp_18[1]
        tmp_52 = torch.cat([tmp_20, tmp_51], 2)
        tmp_51 = None
        tmp_53 = tmp_18[2]
        tmp_18 = None
        tmp_54 = torch.cat([tmp_20, tmp_53], 2)
        tmp_20 = tmp_53 = None
        tmp_55 = torch.stack([tmp_52, tmp_54], 1)
        tmp_52 = tmp_54 = None
        tmp_56 = tmp_16[1]
        tmp_57 = tmp_16[2]
        tmp_16 = None
        tmp_58 = torch.stack((tmp_56, tmp_57), dim=2)
        tmp_56 = tmp_57 = None
        tmp_59 = tmp_19[1]
        tmp_60 = torch.cat([tmp_42, tmp_59], 2)
        tmp_59 = None
        tmp_61 = tmp_60.unsqueeze(2)
        tmp_60 = None
        tmp_62 = tmp_19[2]
        tmp_19 = None
        tmp_63 = torch.cat([tmp_42, tmp_62], 2)
        tmp_42 = tmp_62 = None
        tmp_64 = tmp_63.unsqueeze(2)
        tmp_63 = None
        tmp_65 = torch.cat([tmp_61, tmp_64], 2)
        tmp_61 = tmp_64 = None
        tmp_66 = torch.functional.einsum('bnhtc,bnhsc->bnhts', (tmp_50, tmp_55))
        tmp_50 = tmp_55 = None
        tmp_67 = tmp_58.transpose(1, 2)
        tmp_58 = None
        tmp_68 = torch._C._nn.linear(tmp_67, in_7, in_8)
        in_7 = in_8 = tmp_67 = None
        tmp_69 = tmp_68.view((2, 2, 16, 32, 16))
        tmp_68 = None
        tmp_70 = tmp_69.permute(0, 2, 1, 4, 3)
        tmp_69 = None
        tmp_71 = tmp_70.reshape(-1, 32)
        tmp_70 = None
        tmp_72 = in_13.unsqueeze(0)
        in_13 = None
        tmp_73 = tmp_72.repeat(2, 1, 16, 1)
        tmp_72 = None
        tmp_74 = tmp_73.view(-1, 32)
        tmp_73 = None
        return (tmp_40, tmp_46, tmp_65, tmp_66, tmp_71, tmp_74)
