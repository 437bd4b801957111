import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.nn.functional.mse_loss(x, y)
        return (a,)
