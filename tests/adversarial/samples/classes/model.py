import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, t):
        a = torch.nn.functional.cross_entropy(x, t)
        b = torch.nn.functional.log_softmax(x, dim=-1)
        c = torch.nn.functional.nll_loss(b, t, reduction='none')
        return (a, c,)
