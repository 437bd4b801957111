import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13):
        tmp_0 = torch.zeros((2, 32), dtype=torch.int64, device=device(type='cpu'))
        tmp_0 = None
        tmp_1 = in_0[slice(None, None, None), slice(None, 32, None)]
        in_0 = None
        tmp_2 = torch.nn.functional.embedding(in_1, in_2, 0, None, 2.0, False, False)
        in_1 = in_2 = None
        tmp_3 = tmp_1.long()
        tmp_1 = None
        tmp_4 = torch.nn.functional.embedding(tmp_3, in_3, None, None, 2.0, False, False)
        in_3 = tmp_3 = None
        tmp_5 = tmp_2 + tmp_4
        tmp_2 = tmp_4 = None
        tmp_6 = torch.nn.functional.layer_norm(tmp_5, (768,), in_4, in_5, 1e-07)
        in_4 = in_5 = tmp_5 = None
        tmp_7 = in_6.unsqueeze(2)
        tmp_8 = tmp_7.to(torch.float32)
        tmp_7 = None
        tmp_9 = tmp_6 * tmp_8
        tmp_6 = tmp_8 = None
        tmp_10 = torch.nn.functional.dropout(tmp_9, 0.1, False, False)
        tmp_9 = None
        tmp_11 = in_6.unsqueeze(1)
        in_6 = None
        tmp_12 = tmp_11.unsqueeze(2)
        tmp_11 = None
        tmp_13 = tmp_12.squeeze(-2)
        tmp_14 = tmp_13.unsqueeze(-1)
        tmp_13 = None
        tmp_15 = tmp_12 * tmp_14
        tmp_12 = tmp_14 = None
        tmp_16 = torch.arange(32, dtype=torch.int64, device=device(type='cpu'))
        tmp_17 = torch.arange(32, dtype=torch.int64, device=device(type='cpu'))
        tmp_18 = tmp_16[slice(None, None, None), None]
        tmp_16 = None
        tmp_19 = tmp_17[None, slice(None, None, None)]
        tmp_17 = None
        tmp_20 = tmp_18 - tmp_19
        tmp_18 = tmp_19 = None
        tmp_21 = tmp_20.to(torch.int64)
        tmp_20 = None
        tmp_22 = tmp_21[slice(None, 32, None), slice(None, None, None)]
        tmp_21 = None
        tmp_23 = tmp_22.unsqueeze(0)
        tmp_22 = None
        tmp_24 = tmp_10.to(torch.bfloat16)
        tmp_25 = torch._C._nn.linear(tmp_24, in_7, in_8)
        in_7 = in_8 = tmp_24 = None
        tmp_26 = tmp_25.view((2, 32, 12, -1))
        tmp_25 = None
        tmp_27 = tmp_26.permute(0, 2, 1, 3)
        tmp_26 = None
        tmp_28 = tmp_27.contiguous()
        tmp_27 = None
        tmp_29 = tmp_28.view(-1, 32, 64)
        tmp_28 = None
        tmp_30 = tmp_10.to(torch.bfloat16)
        tmp_31 = torch._C._nn.linear(tmp_30, in_9, in_10)
        in_9 = in_10 = tmp_30 = None
        tmp_32 = tmp_31.view((2, 32, 12, -1))
        tmp_31 = None
        tmp_33 = tmp_32.permute(0, 2, 1, 3)
        tmp_32 = None
        tmp_34 = tmp_33.contiguous()
        tmp_33 = None
        tmp_35 = tmp_34.view(-1, 32, 64)
        tmp_34 = None
        tmp_36 = tmp_10.to(torch.bfloat16)
        tmp_37 = torch._C._nn.linear(tmp_36, in_11, in_12)
        in_11 = in_12 = tmp_36 = None
        tmp_38 = tmp_37.view((2, 32, 12, -1))
        tmp_37 = None
        tmp_39 = tmp_38.permute(0, 2, 1, 3)
        tmp_38 = None
        tmp_40 = tmp_39.contiguous()
        tmp_39 = None
        tmp_41 = tmp_40.view(-1, 32, 64)
        tmp_40 = None
        tmp_42 = torch.tensor(64, dtype=torch.float32)
        tmp_43 = tmp_42 * 1
        tmp_42 = None
        tmp_44 = torch.sqrt(tmp_43)
        tmp_43 = None
        tmp_45 = tmp_35.transpose(-1, -2)
        tmp_35 = None
        tmp_46 = tmp_44.to(dtype=torch.float32)
        tmp_44 = None
        tmp_47 = tmp_45 / tmp_46
        tmp_45 = tmp_46 = None
        tmp_48 = torch.bmm(tmp_29, tmp_47)
        tmp_29 = tmp_47 = None
        tmp_49 = torch.nn.functional.dropout(in_13, 0.1, False, False)
        in_13 = None
        tmp_50 = tmp_23.unsqueeze(1)
        tmp_51 = tmp_50.to(device=device(type='cpu'), dtype=torch.int64)
        tmp_50 = tmp_51 = None
        tmp_52 = tmp_49[slice(0, 1024, None), slice(None, None, None)]
        tmp_49 = None
        tmp_53 = tmp_52.unsqueeze(0)
        tmp_52 = tmp_53 = None
        tmp_54 = tmp_48 + 0
        tmp_48 = None
        tmp_55 = tmp_54.view(-1, 12, 32, 32)
        tmp_54 = None
        tmp_56 = tmp_15.bool()
        tmp_57 = ~tmp_56
        tmp_56 = None
        tmp_58 = tmp_55.masked_fill(tmp_57, -3.3895313892515355e+38)
        tmp_55 = tmp_57 = None
        tmp_59 = torch.nn.functional.softmax(tmp_58, dim=-1)
        tmp_58 = None
        tmp_60 = torch.nn.functional.dropout(tmp_59, 0.1, False, False)
        tmp_59 = None
        tmp_61 = tmp_60.view(-1, 32, 32)
        tmp_60 = None
        tmp_62 = torch.bmm(tmp_61, tmp_41)
        tmp_41 = tmp_61 = None
        return (tmp_10, tmp_15, tmp_23, tmp_62)
