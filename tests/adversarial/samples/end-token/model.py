import torch


class GraphModule(torch.nn.Module):
    def forward(self, ids, x):
        k = ids == 29871
        z = x.masked_fill(k, 0.0)
        y = z * 2.0
        return (y,)
