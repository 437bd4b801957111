import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_gate_, L_x_, L_shortcut_):
        sigmoid = L_gate_.sigmoid()
        mul = L_x_ * sigmoid
        sigmoid = None
        add = mul + L_shortcut_
        mul = None
        relu = torch.nn.functional.relu(add)
        add = None
        return (relu,)
