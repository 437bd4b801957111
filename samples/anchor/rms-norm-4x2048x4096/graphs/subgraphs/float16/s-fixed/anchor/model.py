import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_x_, L_weight_):
        float_1 = L_x_.float()
        float_2 = L_x_.float()
        pow_1 = float_2.pow(2)
        float_2 = None
        mean = pow_1.mean(-1, keepdim=True)
        pow_1 = None
        add = mean + 1e-06
        mean = None
        rsqrt = torch.rsqrt(add)
        add = None
        mul = float_1 * rsqrt
        float_1 = rsqrt = None
        to = mul.to(torch.float16)
        mul = None
        mul_1 = L_weight_ * to
        to = None
        return (mul_1,)
