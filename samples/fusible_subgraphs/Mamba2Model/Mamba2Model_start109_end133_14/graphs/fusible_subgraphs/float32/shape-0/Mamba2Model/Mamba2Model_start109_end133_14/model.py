import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.functional.einsum('bclhn,bchpn->bclhp', in_0, in_1)
        in_0 = in_1 = None
        tmp_1 = in_2.permute(0, 2, 3, 1)
        in_2 = None
        tmp_2 = tmp_1[Ellipsis, None]
        tmp_1 = None
        tmp_3 = tmp_0 * tmp_2
        tmp_0 = tmp_2 = None
        tmp_4 = in_3 + tmp_3
        in_3 = tmp_3 = None
        tmp_5 = tmp_4.contiguous()
        tmp_4 = None
        tmp_6 = tmp_5.reshape(2, -1, 8, 64)
        tmp_5 = None
        tmp_7 = tmp_6 + in_4
        in_4 = tmp_6 = None
        tmp_8 = tmp_7.reshape(2, 32, -1)
        tmp_7 = None
        tmp_9 = tmp_8.to(torch.float32)
        tmp_8 = None
        tmp_10 = in_5.to(torch.float32)
        in_5 = None
        tmp_11 = torch.nn.functional.silu(tmp_10)
        tmp_10 = None
        tmp_12 = tmp_9 * tmp_11
        tmp_9 = tmp_11 = None
        tmp_13 = tmp_12.view(2, 32, 1, 512)
        tmp_12 = None
        tmp_14 = tmp_13.pow(2)
        tmp_15 = tmp_14.mean(-1, keepdim=True)
        tmp_14 = None
        tmp_16 = tmp_15 + 1e-05
        tmp_15 = None
        tmp_17 = torch.rsqrt(tmp_16)
        tmp_16 = None
        tmp_18 = tmp_13 * tmp_17
        tmp_13 = tmp_17 = None
        tmp_19 = tmp_18.view(2, 32, 512)
        tmp_18 = None
        tmp_20 = tmp_19.to(torch.float32)
        tmp_19 = None
        tmp_21 = in_6 * tmp_20
        in_6 = tmp_20 = None
        tmp_22 = tmp_21.to(torch.float32)
        tmp_21 = None
        tmp_23 = tmp_22.to(torch.float16)
        tmp_22 = None
        return (tmp_23,)
