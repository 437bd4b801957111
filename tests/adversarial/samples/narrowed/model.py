import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x * y
        b = a.to(torch.bfloat16)
        return (b,)
