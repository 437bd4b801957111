import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, m, v):
        w = torch.abs(v)
        y = torch.nn.functional.batch_norm(x, m, w, training=False)
        return (y,)
