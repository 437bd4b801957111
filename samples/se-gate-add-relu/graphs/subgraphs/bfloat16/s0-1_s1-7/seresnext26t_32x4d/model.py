import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2):
        tmp_0 = in_0.sigmoid()
        tmp_1 = in_1 * tmp_0
        tmp_0 = None
        tmp_1 += in_2
        tmp_2 = tmp_1
        tmp_1 = None
        tmp_3 = torch.nn.functional.relu(tmp_2, inplace=True)
        tmp_2 = None
        return (tmp_3,)
