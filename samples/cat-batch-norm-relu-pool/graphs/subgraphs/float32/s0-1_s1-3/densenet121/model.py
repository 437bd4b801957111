import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6):
        tmp_0 = torch.cat([in_0, in_1, in_2], 1)
        tmp_1 = torch.nn.functional.batch_norm(tmp_0, in_3, in_4, in_5, in_6, False, 0.1, 1e-05)
        tmp_0 = None
        tmp_2 = torch.nn.functional.relu(tmp_1, inplace=True)
        tmp_1 = None
        tmp_3 = torch.nn.functional.adaptive_avg_pool2d(tmp_2, 1)
        tmp_2 = None
        tmp_4 = tmp_3.flatten(1, -1)
        tmp_3 = None
        return (tmp_4,)
