import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.unsqueeze(-1)
        tmp_1 = tmp_0.expand((16, 256, 768))
        tmp_0 = None
        tmp_2 = tmp_1.float()
        tmp_1 = None
        tmp_3 = in_1 * tmp_2
        tmp_4 = torch.sum(tmp_3, 1)
        tmp_3 = None
        tmp_5 = tmp_2.sum(1)
        tmp_2 = None
        tmp_6 = torch.clamp(tmp_5, min=1e-09)
        tmp_5 = None
        tmp_7 = tmp_4 / tmp_6
        tmp_4 = tmp_6 = None
        return (tmp_7,)
