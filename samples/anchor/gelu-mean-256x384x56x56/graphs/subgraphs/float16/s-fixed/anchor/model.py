import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_x_):
        gelu = torch._C._nn.gelu(L_x_)
        mean = gelu.mean((2, 3), keepdim=True)
        gelu = None
        return (mean,)
