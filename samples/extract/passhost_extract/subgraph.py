"""What is written: a graph whose arguments are tensors, with their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, fx


@dataclass(frozen=True)
class Input:
    """An argument of a subgraph: its name there, its name in the whole model, and the tensor it held in the captured run."""

    name: str
    original_name: str
    value: Tensor


@dataclass(frozen=True)
class Subgraph:
    """A graph ready to be written: a cut out of a model (`cut`), or all of it (`whole`).

    `inputs` are its placeholders, in order of first use. `ops` names the operations as `target_name` does. `module` is the dotted
    path of the innermost module that holds all of them, `""` where there is none.
    """

    graph: fx.Graph
    inputs: tuple[Input, ...]
    ops: tuple[str, ...]
    module: str


def run(graph: fx.Graph, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Execute on copies of `inputs`, so that in-place operations don't reach the caller's tensors."""
    interpreter = fx.Interpreter(fx.GraphModule(torch.nn.Module(), graph))
    # An error is that of the operation, without a page about the graph.
    interpreter.extra_traceback = False
    with torch.no_grad():
        outputs: tuple[Tensor, ...] = interpreter.run(*(value.clone() for value in inputs))
    return outputs


def original_name(edge: fx.Node) -> str:
    """What the whole model calls a value."""
    return str(edge.target) if edge.op in ("placeholder", "get_attr") else edge.name


def innermost_module(nodes: Sequence[fx.Node]) -> str:
    """The longest dotted prefix that the innermost modules of all `nodes` share."""
    prefix: list[str] | None = None
    for node in nodes:
        stack = list(node.meta.get("nn_module_stack", {}).values())
        # Dynamo writes a path as L['self'].layer1.1
        path = re.sub(r"^L\['\w+'\]\.?", "", stack[-1][0]).split(".") if stack else []
        if prefix is None:
            prefix = path
        while prefix != path[: len(prefix)]:
            prefix = prefix[:-1]
    return ".".join(prefix or [])
