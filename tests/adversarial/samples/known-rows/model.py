import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        n = torch.isnan(x)
        k = n.all(-1, keepdim=True)
        z = torch.nan_to_num(x, nan=0.0)
        y = torch.where(k, -1.0, z)
        return (y,)
