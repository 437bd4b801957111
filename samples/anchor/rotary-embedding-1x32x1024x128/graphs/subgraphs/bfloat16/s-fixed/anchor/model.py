import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_query_, L_cosine_, L_sine_):
        first = L_query_[Ellipsis, slice(None, 64, None)]
        second = L_query_[Ellipsis, slice(64, None, None)]
        mul = L_query_ * L_cosine_
        neg = -second
        second = None
        cat = torch.cat([neg, first], -1)
        neg = first = None
        mul_1 = cat * L_sine_
        cat = None
        add = mul + mul_1
        mul = mul_1 = None
        return (add,)
