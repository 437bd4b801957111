import torch


class GraphModule(torch.nn.Module):
    def forward(self, ids, table):
        k = ids < 0
        w = ids + 50
        i = torch.where(k, w, ids)
        a = torch.nn.functional.embedding(i, table)
        y = a * 2.0
        return (y,)
