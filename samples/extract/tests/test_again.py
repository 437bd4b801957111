"""Extracting what was extracted gives the same graph, and the written text computes what the model does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Gated
from torch import Tensor, nn

from passhost_extract import ExtractError, Provenance, Task, canonical_text, capture, whole
from passhost_extract.architectures.again import draw_inputs, hash_of_reextraction, load_model


class Residual(nn.Module):
    """A convolution block as residual networks have it."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.norm = nn.BatchNorm2d(4)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 2, 1), nn.Hardswish(inplace=True), nn.Conv2d(2, 4, 1))
        self.head = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.convolution(x))
        y = y * self.squeeze(y).sigmoid()
        y += x
        result: Tensor = self.head(nn.functional.dropout(y.mean((2, 3)), 0.1, self.training))
        return result


class Attention(nn.Module):
    """Causal self-attention with rotated positions, several results and an optional mask."""

    frequencies: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("frequencies", 1.0 / 10 ** (torch.arange(0, 4, 2) / 4))

    def rotate(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.shape[-2], device=x.device)[:, None] * self.frequencies
        cosine, sine = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        left, right = x.chunk(2, dim=-1)
        return x * cosine + torch.cat([-right, left], dim=-1) * sine

    def forward(self, tokens: Tensor, mask: Tensor) -> dict[str, Any]:
        hidden = self.embedding(tokens)
        batch, length, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        scores = self.rotate(query) @ self.rotate(key).transpose(-1, -2) / 2.0
        causal = torch.full((length, length), float("-inf"), device=tokens.device).triu(1)
        scores = (scores + causal).masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)
        return {"last": mixed, "pooled": (mixed[:, 0], torch.einsum("bld,bld->bl", mixed, hidden))}


def assigned(x: Tensor, index: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    y[:, index] = x[:, index] * 2
    y[..., 0] -= 1
    y[x > 0] = 3.0
    return y.clamp_(-2, 2)


def several(x: Tensor) -> tuple[Tensor, ...]:
    values, positions = torch.max(x, dim=1)
    parts = torch.tensor_split(x, [1], dim=1)
    return values, positions, *parts, torch.stack([values, -values]), torch.topk(x, 2).values


def constructed(x: Tensor) -> Tensor:
    return x.to(torch.float64).T.contiguous().real + torch.tensor([[1.5], [float("inf")], [2.0]], dtype=torch.float64)


def sized(x: Tensor, count: Tensor) -> Tensor:
    return x[:, : int(count.item())].sum(-1) ** 2


def compared(x: Tensor, y: Tensor) -> Tensor:
    return torch.where((x <= y) & ~(x == 0) | (y != 1), x // 2 % 3, x @ y.T @ x)


TOKENS, MASK = torch.tensor([[3, 1, 4, 1, 5]]), torch.tensor([[True, True, True, False, True]])
MODELS: list[tuple[str, Callable[..., Any], tuple[Tensor, ...]]] = [
    ("gated", Gated(), (torch.randn(2, 8),)),
    ("residual", Residual(), (torch.randn(2, 4, 6, 6),)),
    ("attention", Attention(), (TOKENS, MASK)),
    ("lstm", nn.LSTM(4, 4, num_layers=2, bidirectional=True), (torch.randn(3, 2, 4),)),
    ("gru", nn.GRU(4, 4), (torch.randn(3, 2, 4),)),
    ("transformer", nn.Transformer(8, 2, 1, 1, 16, batch_first=True), (torch.randn(2, 4, 8), torch.randn(2, 3, 8))),
    ("weight-norm", nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 2)), (torch.randn(1, 3, 5),)),
    ("group-norm", nn.Sequential(nn.GroupNorm(2, 4), nn.Mish(), nn.Upsample(scale_factor=2)), (torch.randn(1, 4, 3, 3),)),
    ("pools", nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2, ceil_mode=True), nn.Flatten()), (torch.randn(1, 2, 9, 9),)),
    ("transposed", nn.Sequential(nn.ConvTranspose2d(2, 3, 2, 2), nn.PixelUnshuffle(2), nn.PReLU()), (torch.randn(1, 2, 3, 3),)),
    ("assigned", assigned, (torch.randn(3, 4), torch.tensor([0, 2]))),
    ("several", several, (torch.randn(2, 3),)),
    ("constructed", constructed, (torch.randn(2, 3),)),
    ("sized", sized, (torch.randn(2, 5), torch.tensor(3))),
    ("compared", compared, (torch.randn(3, 3), torch.randn(3, 3))),
]


@pytest.mark.parametrize(("name", "model", "inputs"), MODELS, ids=[name for name, _, _ in MODELS])
def test_a_written_graph_computes_the_same_and_extracts_to_the_same_hash(
    name: str, model: Callable[..., Any], inputs: tuple[Tensor, ...], tmp_path: Path
) -> None:
    if isinstance(model, nn.Module):
        model.eval()
    captured = capture(model, *inputs)
    task = Task(name, Provenance(name))
    task.add_captured(captured, model, *inputs)
    folder = task.write_graph(tmp_path)
    values = [item.value for item in whole(captured).inputs]
    with torch.no_grad():
        results = load_model(folder)(*(value.clone() for value in values))
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(captured.outputs) if isinstance(leaf, Tensor)]
    assert len(leaves) == len(results)
    for leaf, result in zip(leaves, results, strict=True):
        torch.testing.assert_close(result, leaf, rtol=1e-6, atol=1e-6, equal_nan=True)
    for again in (values, draw_inputs(folder)):
        assert hash_of_reextraction(folder, again) == (folder / "graph_hash.txt").read_text()


def test_the_hash_doesnt_depend_on_names() -> None:
    text = """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, pixels, L_self_modules_0_parameters_weight_):
        scores = pixels @ L_self_modules_0_parameters_weight_
        pixels_1 = scores.softmax(-1)
        scores = None
        pixels_1 += 1
        y = pixels_1
        return (y,)
"""
    assert canonical_text(text) == """\
def forward(self, in_0, in_1):
tmp_0 = in_0 @ in_1
tmp_1 = tmp_0.softmax(-1)
tmp_1 += 1
tmp_2 = tmp_1
return (tmp_2,)"""


def test_inputs_are_drawn_as_the_statistics_say(tmp_path: Path) -> None:
    task = Task("attention", Provenance("attention"))
    model = Attention().eval()
    task.add(model, TOKENS, MASK)
    tokens, weight, *_, frequencies, mask = draw_inputs(task.write_graph(tmp_path))
    assert torch.equal(tokens, TOKENS)
    assert weight.shape == (20, 8) and weight.std() > 0.5
    assert frequencies.shape == (2,) and mask.dtype == torch.bool


def test_a_text_that_was_changed_is_not_run(gated: Gated, tmp_path: Path) -> None:
    task = Task("gated", Provenance("gated"))
    task.add(gated, torch.randn(2, 8))
    folder = task.write_graph(tmp_path)
    (folder / "model.py").write_text((folder / "model.py").read_text().replace("sigmoid", "tanh"))
    with pytest.raises(ExtractError, match=r"model.py has another hash than graph_hash.txt says"):
        load_model(folder)
