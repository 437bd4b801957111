"""Extracting one architecture, and what is checked of the result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ..capture import Capture, capture
from ..dynamic import Dynamic
from ..errors import ExtractError
from ..task import Task
from ..whole import whole
from .again import draw_inputs, hash_of_reextraction, load_model
from .catalogue import Architecture

SEED = 0


# Matrix products sum in another order in memory that is aligned otherwise: one unit in the last place, then what follows from it.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Trial:
    """What became of one architecture.

    `difference` is the largest one between what the written text computes and what the model did on the same inputs, relative to
    the largest value of that result, infinity where a result is missing. `same_hash` says whether extracting the written graph gives it
    again, `drawn` whether it runs on inputs drawn from its statistics, `batch` whether it holds for batches of any size, so that its folder
    names a symbol. `refusal` is the message where nothing was written.
    """

    name: str
    operations: int = 0
    arguments: int = 0
    results: int = 0
    difference: float = math.inf
    same_hash: bool = False
    drawn: bool = False
    batch: bool = False
    refusal: str = ""

    @property
    def good(self) -> bool:
        return not self.refusal and self.difference <= ROUNDING and self.same_hash


def attempt(architecture: Architecture, out: Path) -> Trial:
    """Build the model, write its graph below `out`, and hold the written files against the model."""
    torch.manual_seed(SEED)
    model, inputs = architecture.build()
    provenance = architecture.provenance
    try:
        captured = capture(model, **inputs)
        subgraph = whole(captured)
        batch = {name: {0: "S0"} for name in inputs}
        task, symbolic = _task(captured, architecture, model, inputs, batch)
        folder = task.write_graph(out / provenance.source)
    except ExtractError as error:
        return Trial(architecture.name, refusal=str(error))
    arguments = [item.value for item in subgraph.inputs]
    with torch.no_grad():
        results = load_model(folder)(*(value.clone() for value in arguments))
    return Trial(
        architecture.name,
        operations=len(subgraph.ops),
        arguments=len(arguments),
        results=len(results),
        # A model may hand an argument back, which is no result of its graph.
        difference=_largest_difference(captured.outputs, [*results, *arguments]),
        same_hash=hash_of_reextraction(folder, arguments) == (folder / "graph_hash.txt").read_text(encoding="utf-8"),
        drawn=_runs(folder, draw_inputs(folder)),
        batch=symbolic,
    )


def _task(
    captured: Capture, architecture: Architecture, model: torch.nn.Module, inputs: dict[str, Any], batch: Dynamic
) -> tuple[Task, bool]:
    """The task of one call, and whether it has a symbol for the batch. It has none where the size is written into the graph."""
    name, provenance = architecture.provenance.model_name, architecture.provenance
    task = Task(name, provenance, dynamic=batch)
    try:
        task.add_captured(captured, model, **inputs)
    except ExtractError:
        task = Task(name, provenance)
        task.add_captured(captured, model, **inputs)
        return task, False
    return task, True


def _runs(folder: Path, inputs: list[Tensor]) -> bool:
    """Whether the written graph runs. A model that subtracts indices, say, may get below zero with random ones."""
    try:
        with torch.no_grad():
            load_model(folder)(*inputs)
    except (IndexError, RuntimeError):
        return False
    return True


def _largest_difference(outputs: Any, results: list[Tensor]) -> float:
    """How far the tensors in the nested `outputs` are from the nearest of `results`."""
    leaves = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, Tensor)]
    return max(min(_difference(leaf, result) for result in results) for leaf in leaves)


def _difference(left: Tensor, right: Tensor) -> float:
    if left.dtype != right.dtype or left.shape != right.shape:
        return math.inf
    wide, other = left.double().nan_to_num(), right.double().nan_to_num()
    if torch.equal(wide, other):
        return 0.0
    return ((wide - other).abs().max() / wide.abs().max().clamp(min=1e-30)).item()
