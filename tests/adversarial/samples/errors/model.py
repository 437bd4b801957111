import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.nn.functional.huber_loss(x, y, reduction='none', delta=0.5)
        b = torch.nn.functional.smooth_l1_loss(x, y, reduction='sum', beta=2.0)
        return (a, b,)
