import torch


class GraphModule(torch.nn.Module):
    def forward(self, x):
        a = torch.nn.functional.pixel_shuffle(x, 2)
        b = torch.relu(a)
        c = torch.nn.functional.pixel_unshuffle(b, 2)
        d = c + x
        return (b, d,)
