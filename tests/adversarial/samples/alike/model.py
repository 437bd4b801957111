import torch


class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = torch.nn.functional.cosine_similarity(x, y, dim=-1)
        b = a * 0.5
        return (b,)
