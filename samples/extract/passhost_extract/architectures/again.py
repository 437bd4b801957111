"""Reading a graph folder of this package back into PyTorch, to extract it again.

`model.py` is executed here. That is right for a file that this process has just written, and for no other: `passhost` itself parses
samples and never executes them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..capture import capture
from ..errors import ExtractError
from ..model_text import graph_hash, model_text
from ..whole import whole


def hash_of_reextraction(folder: Path, inputs: Sequence[Tensor]) -> str:
    """Load the graph in `folder`, run it on `inputs`, extract it, and give the hash of the result."""
    return graph_hash(model_text(whole(capture(load_model(folder), *inputs)).graph))


def load_model(folder: Path) -> torch.nn.Module:
    """The module of a folder's `model.py`, if its hash is the one written beside it."""
    text = (folder / "model.py").read_text(encoding="utf-8")
    if graph_hash(text) != (folder / "graph_hash.txt").read_text(encoding="utf-8"):
        raise ExtractError(f"{folder / 'model.py'} has another hash than graph_hash.txt says; it isn't what was written there")
    names: dict[str, Any] = {}
    exec(compile(text, str(folder / "model.py"), "exec"), names)
    module: torch.nn.Module = names["GraphModule"]()
    return module.eval()


def draw_inputs(folder: Path) -> list[Tensor]:
    """A tensor for each class of `weight_meta.py`: its data where that is written, else random numbers with its statistics."""
    generator = torch.Generator().manual_seed(0)
    classes = ast.parse((folder / "weight_meta.py").read_text(encoding="utf-8")).body
    return [_drawn(_fields(item), generator) for item in classes if isinstance(item, ast.ClassDef)]


def _fields(item: ast.ClassDef) -> dict[str, Any]:
    fields = {}
    for statement in item.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = statement.value
            # float("nan") and the like are the only calls.
            fields[statement.targets[0].id] = (
                float(ast.literal_eval(value.args[0])) if isinstance(value, ast.Call) else ast.literal_eval(value)
            )
    return fields


def _drawn(meta: dict[str, Any], generator: torch.Generator) -> Tensor:
    dtype = getattr(torch, meta["dtype"].removeprefix("torch."))
    shape, data = meta["shape"], meta["data"]
    if data is not None:
        return torch.tensor(data, dtype=dtype).reshape(shape)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(meta.get("min_val", 0), meta.get("max_val", 0) + 1, shape, generator=generator).to(dtype)
    drawn = torch.randn(shape, generator=generator) * (meta["std"] or 0) + (meta["mean"] or 0)
    return drawn.clamp(meta.get("min_val"), meta.get("max_val")).to(dtype) if "min_val" in meta else drawn.to(dtype)
