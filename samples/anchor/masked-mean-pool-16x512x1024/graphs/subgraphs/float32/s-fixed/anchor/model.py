import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_mask_, L_hidden_):
        unsqueeze = L_mask_.unsqueeze(-1)
        expand = unsqueeze.expand((16, 512, 1024))
        unsqueeze = None
        kept = expand.float()
        expand = None
        mul = L_hidden_ * kept
        sum_1 = mul.sum(1)
        mul = None
        sum_2 = kept.sum(1)
        kept = None
        clamp = sum_2.clamp(min=1e-09)
        sum_2 = None
        truediv = sum_1 / clamp
        sum_1 = clamp = None
        return (truediv,)
