import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, w, b):
        a = torch.nn.functional.group_norm(x, 8, w, b, 1e-05)
        c = torch.nn.functional.silu(a)
        return (c,)
