"""Models and helpers that several tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor


class Gated(torch.nn.Module):
    """A small stand-in for a real block: a gate, an in-place residual addition, an in-place activation, a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(8, 8)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        y = x * self.gate(x).sigmoid()
        y += x
        y = torch.nn.functional.relu(y, inplace=True)
        return y + self.norm(y)


@pytest.fixture
def gated() -> Gated:
    torch.manual_seed(0)
    return Gated().eval()


def load_module(path: Path) -> torch.nn.Module:
    """Execute a `model.py` that a test has just written, and return its module."""
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    module: torch.nn.Module = names["GraphModule"]()
    return module


def load_meta(path: Path) -> list[dict[str, Any]]:
    """The classes of a `weight_meta.py`, in order, as dictionaries."""
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return [vars(value) for name, value in names.items() if name.startswith("Program_weight_tensor_meta_")]
