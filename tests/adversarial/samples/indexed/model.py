import torch


class GraphModule(torch.nn.Module):
    def forward(self, table, ids, x, cols):
        a = torch.index_select(table, 0, ids)
        b = a * x
        c = b.gather(1, cols)
        d = torch.nn.functional.embedding(ids, table)
        e = d + b
        return (c, e,)
