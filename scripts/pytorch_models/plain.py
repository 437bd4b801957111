"""Five models of plain PyTorch, which need neither timm nor transformers."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A transformer layer, as of ViT and BERT."""

    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, width // self.heads)
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4))
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Rms(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


class Llama(nn.Module):
    """A layer with rotary positions, RMS norms and a gated MLP."""

    def __init__(self, width=1024, heads=16, inner=2816):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(Rms(width) for _ in range(2))
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        y = self.norms[0](x)
        q, k, v = (layer(y).view(batch, length, self.heads, size).transpose(1, 2) for layer in (self.q, self.k, self.v))
        steps = 10000 ** (-torch.arange(0, size, 2, device=x.device, dtype=torch.float32) / size)
        angles = torch.arange(length, device=x.device, dtype=torch.float32)[:, None] * steps
        cos, sin = (torch.cat([part, part], -1).to(x.dtype) for part in (angles.cos(), angles.sin()))

        def rotated(z):
            return z * cos + torch.cat([-z[..., size // 2 :], z[..., : size // 2]], -1) * sin

        y = F.scaled_dot_product_attention(rotated(q), rotated(k), v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Residual(nn.Module):
    """Two convolutions of ResNet."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(channels, after, 3, step, 1, bias=False) for channels, step in ((before, stride), (after, 1))
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(after) for _ in range(2))
        short = [nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)]
        self.short = nn.Sequential(*short) if before != after else nn.Identity()

    def forward(self, x):
        y = self.norms[1](self.convs[1](F.relu(self.norms[0](self.convs[0](x)))))
        return F.relu(y + self.short(x))


class ConvNext(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.windows, self.norm = nn.Conv2d(width, width, 7, 1, 3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.windows(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


def resnet18():
    sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    return nn.Sequential(*stem, *(Residual(*size) for size in [*sizes, (512, 512, 1)]), *head)


def convnext():
    stages = [nn.Conv2d(3, 96, 4, 4), ConvNext(96), ConvNext(96), nn.Conv2d(96, 192, 2, 2)]
    return nn.Sequential(*stages, *(ConvNext(192) for _ in range(3)))


def mlp():
    return nn.Sequential(nn.LayerNorm(512), nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.LayerNorm(512))


#: How a model is made, and the shape of its input without the batch.
PLAIN = {
    "mlp": (mlp, (128, 512)),
    "vit of 4 layers": (lambda: nn.Sequential(*(Block() for _ in range(4))), (197, 768)),
    "llama of 4 layers": (lambda: nn.Sequential(*(Llama() for _ in range(4))), (128, 1024)),
    "resnet18": (resnet18, (3, 224, 224)),
    "convnext of 5 blocks": (convnext, (3, 224, 224)),
}
