import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_x_):
        view = L_x_.view(32, 2, 7, 2, 7, 512)
        permute = view.permute(0, 1, 3, 2, 4, 5)
        view = None
        contiguous = permute.contiguous()
        permute = None
        view_1 = contiguous.view(-1, 49, 512)
        contiguous = None
        return (view_1,)
