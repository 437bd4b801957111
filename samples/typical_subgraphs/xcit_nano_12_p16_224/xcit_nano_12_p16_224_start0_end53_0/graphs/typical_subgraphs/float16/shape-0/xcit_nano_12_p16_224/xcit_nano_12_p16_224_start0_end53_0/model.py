import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20):
        tmp_0 = torch.conv2d(in_0, in_1, None, (2, 2), (1, 1), (1, 1), 1)
        in_0 = in_1 = None
        tmp_1 = torch.nn.functional.batch_norm(tmp_0, in_2, in_3, in_4, in_5, False, 0.1, 1e-05)
        in_2 = in_3 = in_4 = in_5 = tmp_0 = None
        tmp_2 = torch._C._nn.gelu(tmp_1, approximate='none')
        tmp_1 = None
        tmp_3 = torch.conv2d(tmp_2, in_6, None, (2, 2), (1, 1), (1, 1), 1)
        in_6 = tmp_2 = None
        tmp_4 = torch.nn.functional.batch_norm(tmp_3, in_7, in_8, in_9, in_10, False, 0.1, 1e-05)
        in_7 = in_8 = in_9 = in_10 = tmp_3 = None
        tmp_5 = torch._C._nn.gelu(tmp_4, approximate='none')
        tmp_4 = None
        tmp_6 = torch.conv2d(tmp_5, in_11, None, (2, 2), (1, 1), (1, 1), 1)
        in_11 = tmp_5 = None
        tmp_7 = torch.nn.functional.batch_norm(tmp_6, in_12, in_13, in_14, in_15, False, 0.1, 1e-05)
        in_12 = in_13 = in_14 = in_15 = tmp_6 = None
        tmp_8 = torch._C._nn.gelu(tmp_7, approximate='none')
        tmp_7 = None
        tmp_9 = torch.conv2d(tmp_8, in_16, None, (2, 2), (1, 1), (1, 1), 1)
        in_16 = tmp_8 = None
        tmp_10 = torch.nn.functional.batch_norm(tmp_9, in_17, in_18, in_19, in_20, False, 0.1, 1e-05)
        in_17 = in_18 = in_19 = in_20 = tmp_9 = None
        tmp_11 = tmp_10.flatten(2)
        tmp_10 = None
        tmp_12 = tmp_11.transpose(1, 2)
        tmp_11 = None
        tmp_13 = torch.arange(1, 15, device=device(type='cpu'))
        tmp_14 = tmp_13.to(torch.float32)
        tmp_13 = None
        tmp_15 = tmp_14.unsqueeze(1)
        tmp_14 = None
        tmp_16 = tmp_15.repeat(1, 1, 14)
        tmp_15 = None
        tmp_17 = torch.arange(1, 15, device=device(type='cpu'))
        tmp_18 = tmp_17.to(torch.float32)
        tmp_17 = None
        tmp_19 = tmp_18.repeat(1, 14, 1)
        tmp_18 = None
        tmp_20 = tmp_16[slice(None, None, None), slice(-1, None, None), slice(None, None, None)]
        tmp_21 = tmp_20 + 1e-06
        tmp_20 = None
        tmp_22 = tmp_16 / tmp_21
        tmp_16 = tmp_21 = None
        tmp_23 = tmp_22 * 6.283185307179586
        tmp_22 = None
        tmp_24 = tmp_19[slice(None, None, None), slice(None, None, None), slice(-1, None, None)]
        tmp_25 = tmp_24 + 1e-06
        tmp_24 = None
        tmp_26 = tmp_19 / tmp_25
        tmp_19 = tmp_25 = None
        tmp_27 = tmp_26 * 6.283185307179586
        tmp_26 = None
        tmp_28 = torch.arange(32, device=device(type='cpu'))
        tmp_29 = tmp_28.to(torch.float32)
        tmp_28 = None
        tmp_30 = torch.div(tmp_29, 2, rounding_mode='floor')
        tmp_29 = None
        tmp_31 = 2 * tmp_30
        tmp_30 = None
        tmp_32 = tmp_31 / 32
        tmp_31 = None
        tmp_33 = 10000 ** tmp_32
        tmp_32 = None
        tmp_34 = tmp_27[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_27 = None
        tmp_35 = tmp_34 / tmp_33
        tmp_34 = None
        tmp_36 = tmp_23[slice(None, None, None), slice(None, None, None), slice(None, None, None), None]
        tmp_23 = None
        tmp_37 = tmp_36 / tmp_33
        tmp_33 = tmp_36 = None
        tmp_38 = tmp_35[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(0, None, 2)]
        tmp_39 = tmp_38.sin()
        tmp_38 = None
        tmp_40 = tmp_35[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_35 = None
        tmp_41 = tmp_40.cos()
        tmp_40 = None
        tmp_42 = torch.stack([tmp_39, tmp_41], dim=4)
        tmp_39 = tmp_41 = None
        tmp_43 = tmp_42.flatten(3)
        tmp_42 = None
        tmp_44 = tmp_37[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(0, None, 2)]
        tmp_45 = tmp_44.sin()
        tmp_44 = None
        tmp_46 = tmp_37[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(1, None, 2)]
        tmp_37 = None
        tmp_47 = tmp_46.cos()
        tmp_46 = None
        tmp_48 = torch.stack([tmp_45, tmp_47], dim=4)
        tmp_45 = tmp_47 = None
        tmp_49 = tmp_48.flatten(3)
        tmp_48 = None
        tmp_50 = torch.cat((tmp_49, tmp_43), dim=3)
        tmp_43 = tmp_49 = None
        tmp_51 = tmp_50.permute(0, 3, 1, 2)
        tmp_50 = None
        tmp_52 = tmp_51.to(torch.float32)
        tmp_51 = None
        return (tmp_12, tmp_52)
