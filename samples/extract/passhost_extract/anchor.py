"""The anchor tasks: fifteen functions with what fuses well and what does not, in sizes that a GPU is measured on.

`python -m passhost_extract.anchor --out tasks` writes them again, and `passhost samples pack tasks --out packed` makes of them the files
that are shipped, byte for byte. Nothing but torch is needed; 6 GB of memory are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from .provenance import Provenance
from .recipes import DTYPES, SEED
from .task import Task

FOLDER = "anchor"


@dataclass(frozen=True)
class Anchor:
    """A function, and what it takes in float32; the other dtypes are casts."""

    name: str
    function: Callable[..., Tensor]
    arguments: Callable[[], tuple[Tensor, ...]]
    dtypes: tuple[str, ...] = DTYPES


def drawn(*shapes: tuple[int, ...]) -> Callable[[], tuple[Tensor, ...]]:
    """Normal tensors of these shapes."""
    return lambda: tuple(torch.randn(shape) for shape in shapes)


def statistics(channels: int) -> tuple[Tensor, ...]:
    """Mean, variance, weight and bias of a batch norm."""
    mean, variance, weight, bias = (torch.randn(channels) for _ in range(4))
    return mean * 0.1, variance.abs() + 0.5, weight, bias


def batch_norm(x: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.batch_norm(x, mean, variance, weight, bias, False, 0.1, 1e-5)


def gelu_mean(x: Tensor) -> Tensor:
    return F.gelu(x).mean((2, 3), keepdim=True)


def densenet_tail(a: Tensor, b: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    x = F.relu(batch_norm(torch.cat([a, b], 1), mean, variance, weight, bias))
    return F.adaptive_avg_pool2d(x, (1, 1)).flatten(1)


def se_gate_add_relu(x: Tensor, gate: Tensor, shortcut: Tensor) -> Tensor:
    return F.relu(x * gate.sigmoid() + shortcut)


def attention_bias_softmax(scores: Tensor, bias: Tensor) -> Tensor:
    return torch.softmax(scores * 0.125 + bias, -1)


def add_layer_norm(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x + residual, (768,), weight, bias, 1e-6)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return weight * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def rotary_embedding(query: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = query[..., :64], query[..., 64:]
    return query * cosine + torch.cat([-second, first], -1) * sine


def cat_reshape_transpose_mul_pad(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    heads = torch.cat([b, c, d], 1).reshape(1, 8, 16, 3136).transpose(-1, -2)
    return F.pad(a * heads, (0, 0, 1, 0, 0, 0))


def roll_add_layer_norm(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    rolled = torch.roll(x.view(8, 56, 56, 96), (3, 3), (1, 2)).reshape(8, 3136, 96)
    return F.layer_norm(rolled + residual, (96,), weight, bias)


def masked_mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    kept = mask.unsqueeze(-1).expand(hidden.size()).float()
    return (hidden * kept).sum(1) / kept.sum(1).clamp(min=1e-9)


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.gelu(F.linear(x, weight, bias))


def conv_batch_norm_relu(x: Tensor, kernel: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.relu(batch_norm(F.conv2d(x, kernel, None, 1, 1), mean, variance, weight, bias))


def window_transpose(x: Tensor) -> Tensor:
    return x.view(32, 2, 7, 2, 7, 512).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 49, 512)


ANCHORS = (
    # Fewer images in float32: 308 MB, and 616 in 16 bits.
    Anchor("gelu-mean-64x384x56x56", gelu_mean, drawn((64, 384, 56, 56)), ("float32",)),
    Anchor("gelu-mean-256x384x56x56", gelu_mean, drawn((256, 384, 56, 56)), ("float16", "bfloat16")),
    Anchor(
        "densenet-tail-128x1024x8x8",
        densenet_tail,
        lambda: (torch.randn(128, 512, 8, 8), torch.randn(128, 512, 8, 8), *statistics(1024)),
    ),
    Anchor("se-gate-add-relu-32x2048x6x8", se_gate_add_relu, drawn((32, 2048, 6, 8), (32, 2048, 1, 1), (32, 2048, 6, 8))),
    Anchor("attention-bias-softmax-8x6x256x256", attention_bias_softmax, drawn((8, 6, 256, 256), (1, 6, 256, 256))),
    Anchor("attention-bias-softmax-1x6x64x64", attention_bias_softmax, drawn((1, 6, 64, 64), (1, 6, 64, 64))),
    Anchor("add-layer-norm-32x197x768", add_layer_norm, drawn((32, 197, 768), (32, 197, 768), (768,), (768,))),
    Anchor("add-layer-norm-1x197x768", add_layer_norm, drawn((1, 197, 768), (1, 197, 768), (768,), (768,))),
    Anchor("rms-norm-4x2048x4096", rms_norm, drawn((4, 2048, 4096), (4096,))),
    Anchor("rotary-embedding-1x32x1024x128", rotary_embedding, drawn((1, 32, 1024, 128), (1024, 128), (1024, 128))),
    Anchor(
        "cat-reshape-transpose-mul-pad",
        cat_reshape_transpose_mul_pad,
        drawn((1, 8, 3136, 16), (1, 32, 56, 56), (1, 48, 56, 56), (1, 48, 56, 56)),
    ),
    Anchor("roll-add-layer-norm-8x56x56x96", roll_add_layer_norm, drawn((8, 3136, 96), (8, 3136, 96), (96,), (96,))),
    Anchor(
        "masked-mean-pool-16x512x1024",
        masked_mean_pool,
        lambda: (torch.randn(16, 512, 1024), (torch.rand(16, 512) > 0.3).long()),
    ),
    Anchor(
        "linear-gelu-32x197x768",
        linear_gelu,
        lambda: (torch.randn(32, 197, 768), torch.randn(3072, 768) * 0.02, torch.randn(3072)),
    ),
    Anchor(
        "conv-batch-norm-relu-32x64x56x56",
        conv_batch_norm_relu,
        lambda: (torch.randn(32, 64, 56, 56), torch.randn(64, 64, 3, 3) * 0.05, *statistics(64)),
    ),
    Anchor("window-transpose-32x14x14x512", window_transpose, drawn((32, 196, 512))),
)


def task(anchor: Anchor) -> Task:
    result = Task(anchor.name, Provenance("anchor", "passhost", "other"), dtypes=anchor.dtypes)
    torch.manual_seed(SEED)
    result.add(anchor.function, *anchor.arguments())
    return result


def task_list() -> str:
    """The text of `anchor.txt`."""
    return "# The anchor tasks, one path a line, relative to this folder.\n" + "".join(
        f"{FOLDER}/{anchor.name}\n" for anchor in ANCHORS
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m passhost_extract.anchor", description="Write the anchor tasks.")
    parser.add_argument("--out", type=Path, required=True, help="the folder that gets the folder anchor, and anchor.txt")
    out = parser.parse_args().out
    # One thread: the order in which sums are taken must not depend on the machine's cores.
    torch.set_num_threads(1)
    for anchor in ANCHORS:
        path = task(anchor).write(out / FOLDER)
        print(f"{path}: {len(anchor.dtypes)} graphs", flush=True)
    (out / "anchor.txt").write_text(task_list(), encoding="utf-8")


if __name__ == "__main__":
    main()
