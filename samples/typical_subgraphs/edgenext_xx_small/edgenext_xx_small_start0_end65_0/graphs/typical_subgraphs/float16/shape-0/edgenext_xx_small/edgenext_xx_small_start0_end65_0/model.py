import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31, in_32, in_33, in_34, in_35, in_36, in_37):
        tmp_0 = torch.conv2d(in_0, in_1, in_2, (4, 4), (0, 0), (1, 1), 1)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0.permute(0, 2, 3, 1)
        tmp_0 = None
        tmp_2 = torch.nn.functional.layer_norm(tmp_1, (24,), in_3, in_4, 1e-06)
        in_3 = in_4 = tmp_1 = None
        tmp_3 = tmp_2.permute(0, 3, 1, 2)
        tmp_2 = None
        tmp_4 = torch.conv2d(tmp_3, in_5, in_6, (1, 1), (1, 1), (1, 1), 24)
        in_5 = in_6 = None
        tmp_5 = tmp_4.permute(0, 2, 3, 1)
        tmp_4 = None
        tmp_6 = torch.nn.functional.layer_norm(tmp_5, (24,), in_7, in_8, 1e-06)
        in_7 = in_8 = tmp_5 = None
        tmp_7 = torch._C._nn.linear(tmp_6, in_9, in_10)
        in_9 = in_10 = tmp_6 = None
        tmp_8 = torch._C._nn.gelu(tmp_7, approximate='none')
        tmp_7 = None
        tmp_9 = torch.nn.functional.dropout(tmp_8, 0.0, False, False)
        tmp_8 = None
        tmp_10 = torch._C._nn.linear(tmp_9, in_11, in_12)
        in_11 = in_12 = tmp_9 = None
        tmp_11 = torch.nn.functional.dropout(tmp_10, 0.0, False, False)
        tmp_10 = None
        tmp_12 = in_13 * tmp_11
        in_13 = tmp_11 = None
        tmp_13 = tmp_12.permute(0, 3, 1, 2)
        tmp_12 = None
        tmp_14 = tmp_3 + tmp_13
        tmp_3 = tmp_13 = None
        tmp_15 = torch.conv2d(tmp_14, in_14, in_15, (1, 1), (1, 1), (1, 1), 24)
        in_14 = in_15 = None
        tmp_16 = tmp_15.permute(0, 2, 3, 1)
        tmp_15 = None
        tmp_17 = torch.nn.functional.layer_norm(tmp_16, (24,), in_16, in_17, 1e-06)
        in_16 = in_17 = tmp_16 = None
        tmp_18 = torch._C._nn.linear(tmp_17, in_18, in_19)
        in_18 = in_19 = tmp_17 = None
        tmp_19 = torch._C._nn.gelu(tmp_18, approximate='none')
        tmp_18 = None
        tmp_20 = torch.nn.functional.dropout(tmp_19, 0.0, False, False)
        tmp_19 = None
        tmp_21 = torch._C._nn.linear(tmp_20, in_20, in_21)
        in_20 = in_21 = tmp_20 = None
        tmp_22 = torch.nn.functional.dropout(tmp_21, 0.0, False, False)
        tmp_21 = None
        tmp_23 = in_22 * tmp_22
        in_22 = tmp_22 = None
        tmp_24 = tmp_23.permute(0, 3, 1, 2)
        tmp_23 = None
        tmp_25 = tmp_14 + tmp_24
        tmp_14 = tmp_24 = None
        tmp_26 = tmp_25.permute(0, 2, 3, 1)
        tmp_25 = None
        tmp_27 = torch.nn.functional.layer_norm(tmp_26, (24,), in_23, in_24, 1e-06)
        in_23 = in_24 = tmp_26 = None
        tmp_28 = tmp_27.permute(0, 3, 1, 2)
        tmp_27 = None
        tmp_29 = torch.conv2d(tmp_28, in_25, in_26, (2, 2), (0, 0), (1, 1), 1)
        in_25 = in_26 = tmp_28 = None
        tmp_30 = torch.conv2d(tmp_29, in_27, in_28, (1, 1), (2, 2), (1, 1), 48)
        in_27 = in_28 = None
        tmp_31 = tmp_30.permute(0, 2, 3, 1)
        tmp_30 = None
        tmp_32 = torch.nn.functional.layer_norm(tmp_31, (48,), in_29, in_30, 1e-06)
        in_29 = in_30 = tmp_31 = None
        tmp_33 = torch._C._nn.linear(tmp_32, in_31, in_32)
        in_31 = in_32 = tmp_32 = None
        tmp_34 = torch._C._nn.gelu(tmp_33, approximate='none')
        tmp_33 = None
        tmp_35 = torch.nn.functional.dropout(tmp_34, 0.0, False, False)
        tmp_34 = None
        tmp_36 = torch._C._nn.linear(tmp_35, in_33, in_34)
        in_33 = in_34 = tmp_35 = None
        tmp_37 = torch.nn.functional.dropout(tmp_36, 0.0, False, False)
        tmp_36 = None
        tmp_38 = in_35 * tmp_37
        in_35 = tmp_37 = None
        tmp_39 = tmp_38.permute(0, 3, 1, 2)
        tmp_38 = None
        tmp_40 = tmp_29 + tmp_39
        tmp_29 = tmp_39 = None
        tmp_41 = tmp_40.chunk(2, dim=1)
        tmp_42 = tmp_41[0]
        tmp_43 = torch.conv2d(tmp_42, in_36, in_37, (1, 1), (1, 1), (1, 1), 24)
        in_36 = in_37 = tmp_42 = None
        tmp_44 = tmp_41[1]
        tmp_41 = None
        tmp_45 = torch.cat([tmp_43, tmp_44], 1)
        tmp_43 = tmp_44 = None
        tmp_46 = tmp_45.reshape(2, 48, 576)
        tmp_45 = None
        tmp_47 = tmp_46.permute(0, 2, 1)
        tmp_46 = None
        tmp_48 = torch.zeros((2, 24, 24))
        tmp_49 = tmp_48.to(device=device(type='cpu'), dtype=torch.bool)
        tmp_48 = None
        tmp_50 = ~tmp_49
        tmp_49 = None
        tmp_51 = tmp_50.cumsum(1, dtype=torch.float32)
        tmp_52 = tmp_50.cumsum(2, dtype=torch.float32)
        tmp_50 = None
        tmp_53 = tmp_51[slice(None, None, None), slice(-1, None, None), slice(None, None, None)]
        tmp_54 = tmp_53 + 1e-06
        tmp_53 = None
        tmp_55 = tmp_51 / tmp_54
        tmp_51 = tmp_54 = None
        tmp_56 = tmp_55 * 6.283185307179586
        tmp_55 = None
        tmp_57 = tmp_52[slice(None, None, None), slice(None, None, None), slice(-1, None, None)]
        tmp_58 = tmp_57 + 1e-06
        tmp_57 = None
        tmp_59 = tmp_52 / tmp_58
        tmp_52 = tmp_58 = None
        tmp_60 = tmp_59 * 6.283185307179586
        tmp_59 = None
        tmp_61 = torch.arange(32, dtype=torch.int64, device=device(type='cpu'))
        tmp_62 = tmp_61.to(torch.float32)
        tmp_61 = None
        tmp_63 = torch.div(tmp_62, 2, rounding_mode='floor')
        tmp_62 = None
        tmp_64 = 2 * tmp_63
        tmp_63 = None
        return (tmp_40, tmp_47, tmp_56, tmp_60, tmp_64)
