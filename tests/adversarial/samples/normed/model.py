import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, m, v, w, b):
        a = torch.nn.functional.batch_norm(x, m, v, w, b, training=False)
        c = a * 0.5
        return (c,)
