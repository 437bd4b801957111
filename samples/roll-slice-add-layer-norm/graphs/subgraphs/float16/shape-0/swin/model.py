import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3):
        tmp_0 = torch.roll(in_0, shifts=(3, 3), dims=(1, 2))
        tmp_1 = tmp_0[slice(None, None, None), slice(None, 9, None), slice(None, 9, None), slice(None, None, None)]
        tmp_0 = None
        tmp_2 = tmp_1.contiguous()
        tmp_1 = None
        tmp_3 = tmp_2.view(1, 81, 96)
        tmp_2 = None
        tmp_4 = in_1 + tmp_3
        tmp_3 = None
        tmp_5 = torch.nn.functional.layer_norm(tmp_4, (96,), in_2, in_3, 1e-05)
        return (tmp_4, tmp_5)
