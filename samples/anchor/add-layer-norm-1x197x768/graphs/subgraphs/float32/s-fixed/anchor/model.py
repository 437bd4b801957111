import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_x_, L_residual_, L_weight_, L_bias_):
        add = L_x_ + L_residual_
        layer_norm = torch.nn.functional.layer_norm(add, (768,), L_weight_, L_bias_, 1e-06)
        add = None
        return (layer_norm,)
