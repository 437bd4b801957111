import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, t):
        a = torch.nn.functional.binary_cross_entropy_with_logits(x, t, reduction='none')
        b = a.mean()
        return (a, b,)
