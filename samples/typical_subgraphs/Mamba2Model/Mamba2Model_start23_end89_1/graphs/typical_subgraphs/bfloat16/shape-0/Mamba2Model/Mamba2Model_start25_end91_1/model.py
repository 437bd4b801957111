import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.conv1d(in_0, weight=in_1, bias=in_2, padding=3, groups=576)
        in_0 = in_1 = in_2 = None
        tmp_1 = tmp_0[slice(None, None, None), slice(None, None, None), slice(None, 32, None)]
        tmp_0 = None
        tmp_2 = torch.nn.functional.silu(tmp_1)
        tmp_1 = None
        tmp_3 = tmp_2.to(torch.float32)
        tmp_2 = None
        tmp_4 = tmp_3.transpose(1, 2)
        tmp_3 = None
        tmp_5 = torch.functional.split(tmp_4, [512, 32, 32], dim=-1)
        tmp_4 = None
        tmp_6 = tmp_5[0]
        tmp_7 = tmp_6.view(2, 32, 8, 64)
        tmp_6 = None
        tmp_8 = tmp_5[1]
        tmp_9 = tmp_8.view(2, 32, 1, 32)
        tmp_8 = None
        tmp_10 = tmp_5[2]
        tmp_5 = None
        tmp_11 = tmp_10.view(2, 32, 1, 32)
        tmp_10 = None
        tmp_12 = in_3.to(torch.float32)
        in_3 = None
        tmp_13 = in_4 + tmp_12
        in_4 = tmp_12 = None
        tmp_14 = torch._C._nn.softplus(tmp_13)
        tmp_13 = None
        tmp_15 = torch.clamp(tmp_14, min=0.0, max=inf)
        tmp_14 = None
        tmp_16 = tmp_7.float()
        tmp_7 = None
        tmp_17 = tmp_9.float()
        tmp_9 = None
        tmp_18 = tmp_17.repeat_interleave(8, dim=2, output_size=8)
        tmp_17 = None
        tmp_19 = tmp_11.float()
        tmp_11 = None
        tmp_20 = tmp_19.repeat_interleave(8, dim=2, output_size=8)
        tmp_19 = None
        tmp_21 = in_5[Ellipsis, None]
        in_5 = None
        tmp_22 = torch._C._nn.pad(tmp_16, (0, 0, 0, 0, 0, 0, 0, 0), 'constant', 0)
        tmp_23 = tmp_21 * tmp_22
        tmp_21 = tmp_22 = None
        tmp_24 = tmp_15[Ellipsis, None]
        tmp_25 = tmp_24.float()
        tmp_24 = None
        tmp_26 = tmp_16 * tmp_25
        tmp_16 = tmp_25 = None
        tmp_27 = in_6.to(torch.float32)
        in_6 = None
        tmp_28 = tmp_15.float()
        tmp_15 = None
        tmp_29 = tmp_27 * tmp_28
        tmp_27 = tmp_28 = None
        tmp_30 = torch._C._nn.pad(tmp_26, (0, 0, 0, 0, 0, 0, 0, 0), 'constant', 0)
        tmp_26 = None
        tmp_31 = tmp_30.reshape(2, -1, 16, 8, 64)
        tmp_30 = None
        tmp_32 = torch._C._nn.pad(tmp_29, (0, 0, 0, 0, 0, 0), 'constant', 0)
        tmp_29 = None
        tmp_33 = tmp_32.reshape(2, -1, 16, 8)
        tmp_32 = None
        tmp_34 = torch._C._nn.pad(tmp_18, (0, 0, 0, 0, 0, 0, 0, 0), 'constant', 0)
        tmp_18 = None
        tmp_35 = tmp_34.reshape(2, -1, 16, 8, 32)
        tmp_34 = None
        tmp_36 = torch._C._nn.pad(tmp_20, (0, 0, 0, 0, 0, 0, 0, 0), 'constant', 0)
        tmp_20 = None
        tmp_37 = tmp_36.reshape(2, -1, 16, 8, 32)
        tmp_36 = None
        tmp_38 = tmp_33.permute(0, 3, 1, 2)
        tmp_33 = None
        tmp_39 = torch.cumsum(tmp_38, dim=-1)
        tmp_40 = tmp_38[Ellipsis, None]
        tmp_38 = None
        tmp_41 = tmp_40.expand(2, 8, 2, 16, 16)
        tmp_40 = None
        tmp_42 = torch.ones(16, 16, device=device(type='cpu'), dtype=torch.bool)
        tmp_43 = torch.tril(tmp_42, diagonal=-1)
        tmp_42 = None
        tmp_44 = ~tmp_43
        tmp_43 = None
        tmp_45 = tmp_41.masked_fill(tmp_44, 0)
        tmp_41 = tmp_44 = None
        tmp_46 = torch.cumsum(tmp_45, dim=-2)
        tmp_45 = None
        tmp_47 = torch.ones(16, 16, device=device(type='cpu'), dtype=torch.bool)
        tmp_48 = torch.tril(tmp_47, diagonal=0)
        tmp_47 = None
        tmp_49 = ~tmp_48
        tmp_48 = None
        tmp_50 = tmp_46.masked_fill(tmp_49, -inf)
        tmp_46 = tmp_49 = None
        tmp_51 = torch.exp(tmp_50)
        tmp_50 = None
        tmp_52 = torch.functional.einsum('bclhn,bcshn->bclsh', tmp_37, tmp_35)
        tmp_53 = tmp_51.permute(0, 2, 3, 4, 1)
        tmp_51 = None
        tmp_54 = tmp_52 * tmp_53
        tmp_52 = tmp_53 = None
        tmp_55 = torch.functional.einsum('bclsh,bcshp->bclhp', tmp_54, tmp_31)
        tmp_54 = None
        tmp_56 = tmp_39[slice(None, None, None), slice(None, None, None), slice(None, None, None), slice(-1, None, None)]
        tmp_57 = tmp_56 - tmp_39
        tmp_56 = None
        tmp_58 = torch.exp(tmp_57)
        tmp_57 = None
        tmp_59 = tmp_58.permute(0, -2, -1, 1)
        tmp_58 = None
        tmp_60 = tmp_59[Ellipsis, None]
        tmp_59 = None
        tmp_61 = tmp_35 * tmp_60
        tmp_35 = tmp_60 = None
        tmp_62 = torch.functional.einsum('bclhn,bclhp->bchpn', tmp_61, tmp_31)
        tmp_31 = tmp_61 = None
        tmp_63 = tmp_62[slice(None, None, None), slice(None, 1, None)]
        tmp_64 = torch.zeros_like(tmp_63)
        tmp_63 = None
        tmp_65 = torch.cat([tmp_64, tmp_62], dim=1)
        tmp_62 = tmp_64 = None
        return (tmp_23, tmp_37, tmp_39, tmp_55, tmp_65)
