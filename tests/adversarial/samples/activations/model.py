import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.nn.functional.elu(x)
        b = torch.nn.functional.mish(x)
        c = torch.nn.functional.selu(x)
        d = torch.nn.functional.hardswish(x)
        e = torch.nn.functional.hardsigmoid(x)
        return (a, b, c, d, e,)
