import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9):
        tmp_0 = torch._C._nn.linear(in_0, in_1, None)
        in_0 = in_1 = None
        tmp_1 = tmp_0.view((2, 32, 12, -1))
        tmp_0 = None
        tmp_2 = tmp_1.permute(0, 2, 1, 3)
        tmp_1 = None
        tmp_3 = tmp_2.chunk(3, dim=-1)
        tmp_2 = None
        tmp_4 = in_2[None, None, slice(None, None, None)]
        in_2 = None
        tmp_5 = tmp_4.view((1, 1, 12, -1))
        tmp_4 = None
        tmp_6 = tmp_5.permute(0, 2, 1, 3)
        tmp_5 = None
        tmp_7 = tmp_3[0]
        tmp_8 = tmp_7 + tmp_6
        tmp_6 = tmp_7 = None
        tmp_9 = in_3[None, None, slice(None, None, None)]
        in_3 = None
        tmp_10 = tmp_9.view((1, 1, 12, -1))
        tmp_9 = None
        tmp_11 = tmp_10.permute(0, 2, 1, 3)
        tmp_10 = None
        tmp_12 = tmp_3[2]
        tmp_13 = tmp_12 + tmp_11
        tmp_11 = tmp_12 = None
        tmp_14 = torch.tensor(64, dtype=torch.float32)
        tmp_15 = tmp_14 * 3
        tmp_14 = None
        tmp_16 = torch.sqrt(tmp_15)
        tmp_15 = None
        tmp_17 = tmp_16.to(dtype=torch.float32)
        tmp_16 = None
        tmp_18 = tmp_8 / tmp_17
        tmp_8 = tmp_17 = None
        tmp_19 = tmp_3[1]
        tmp_3 = None
        tmp_20 = tmp_19.transpose(-1, -2)
        tmp_21 = torch.matmul(tmp_18, tmp_20)
        tmp_20 = None
        tmp_22 = torch.nn.functional.dropout(in_4, 0.1, False, False)
        in_4 = None
        tmp_23 = in_5.unsqueeze(1)
        in_5 = None
        tmp_24 = torch.tensor(32)
        tmp_25 = tmp_23.long()
        tmp_23 = None
        tmp_26 = 512 - tmp_24
        tmp_26 = None
        tmp_27 = 512 + tmp_24
        tmp_27 = None
        tmp_28 = tmp_22[slice(480, 544, None), slice(None, None, None)]
        tmp_22 = None
        tmp_29 = tmp_28.unsqueeze(0)
        tmp_28 = None
        tmp_30 = torch._C._nn.linear(tmp_29, in_6, None)
        in_6 = None
        tmp_31 = tmp_30.view((1, 64, 12, -1))
        tmp_30 = None
        tmp_32 = tmp_31.permute(0, 2, 1, 3)
        tmp_31 = None
        tmp_33 = tmp_32.transpose(-1, -2)
        tmp_32 = None
        tmp_34 = torch.matmul(tmp_18, tmp_33)
        tmp_18 = tmp_33 = None
        tmp_35 = tmp_25 + tmp_24
        tmp_36 = tmp_24 * 2
        tmp_37 = tmp_36 - 1
        tmp_36 = None
        tmp_38 = torch.clamp(tmp_35, 0, tmp_37)
        tmp_35 = tmp_37 = None
        tmp_39 = tmp_38.expand([2, 12, 32, 32])
        tmp_38 = None
        tmp_40 = torch.gather(tmp_34, dim=-1, index=tmp_39)
        tmp_34 = tmp_39 = None
        tmp_41 = 0 + tmp_40
        tmp_40 = None
        tmp_42 = torch._C._nn.linear(tmp_29, in_7, in_8)
        in_7 = in_8 = tmp_29 = None
        tmp_43 = tmp_42.view((1, 64, 12, -1))
        tmp_42 = None
        tmp_44 = tmp_43.permute(0, 2, 1, 3)
        tmp_43 = None
        tmp_45 = torch.tensor(64, dtype=torch.float32)
        tmp_46 = tmp_45 * 3
        tmp_45 = None
        tmp_47 = torch.sqrt(tmp_46)
        tmp_46 = None
        tmp_44 /= tmp_47
        tmp_48 = tmp_44
        tmp_44 = tmp_47 = None
        tmp_49 = -tmp_25
        tmp_25 = None
        tmp_50 = tmp_49 + tmp_24
        tmp_49 = None
        tmp_51 = tmp_24 * 2
        tmp_24 = None
        tmp_52 = tmp_51 - 1
        tmp_51 = None
        tmp_53 = torch.clamp(tmp_50, 0, tmp_52)
        tmp_50 = tmp_52 = None
        tmp_54 = tmp_48.transpose(-1, -2)
        tmp_48 = None
        tmp_55 = tmp_54.to(dtype=torch.float32)
        tmp_54 = None
        tmp_56 = torch.matmul(tmp_19, tmp_55)
        tmp_19 = tmp_55 = None
        tmp_57 = tmp_53.expand([2, 12, 32, 32])
        tmp_53 = None
        tmp_58 = torch.gather(tmp_56, dim=-1, index=tmp_57)
        tmp_56 = tmp_57 = None
        tmp_59 = tmp_58.transpose(-1, -2)
        tmp_58 = None
        tmp_41 += tmp_59
        tmp_60 = tmp_41
        tmp_41 = tmp_59 = None
        tmp_61 = tmp_21 + tmp_60
        tmp_21 = tmp_60 = None
        tmp_62 = in_9.bool()
        in_9 = None
        tmp_63 = ~tmp_62
        tmp_62 = None
        tmp_64 = tmp_61.masked_fill(tmp_63, -3.4028234663852886e+38)
        tmp_61 = tmp_63 = None
        tmp_65 = torch.nn.functional.softmax(tmp_64, dim=-1)
        tmp_64 = None
        return (tmp_13, tmp_65)
