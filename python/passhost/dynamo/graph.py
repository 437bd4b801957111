"""A piece of an FX graph as the text of a graph. No name of the user's is in it."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from passhost.dynamo.linear import compose_linear
from passhost.dynamo.lower import Lowering, is_getitem
from passhost.dynamo.values import NO_RESULT, Unsupported, call_text, results, tensor_type, type_text


def graph_text(graph: fx.Graph, lowering: Lowering) -> str:
    """The text of a graph whose ops all are supported. Its inputs are the placeholders, its results are tensors."""
    lowered = lowering.lower(graph)
    lowered.eliminate_dead_code()
    if ("linear", "") in lowering.ops:
        compose_linear(lowered)
    names: dict[fx.Node, Any] = {}
    count = 0

    def define(value: object) -> tuple[str, str]:
        nonlocal count
        count += 1
        return f"%v{count - 1}", type_text(NO_RESULT if value is None else tensor_type(value))

    inputs, lines = [], []
    for node in lowered.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder":
            names[node], ty = define(value)
            inputs.append(f"{names[node]}: {ty}")
        elif is_getitem(node):
            names[node] = names[node.args[0]][node.args[1]]
        elif node.op == "call_function":
            defined = [define(result) for result in results(value)]
            call = call_text(node, lowering.device, names.__getitem__)
            lines.append(f"  {', '.join(f'{name}: {ty}' for name, ty in defined)} = {call}")
            named = [name for name, _ in defined]
            names[node] = named if isinstance(value, (list, tuple)) else named[0]
        elif node.op == "output":
            lines.append(f"  return ({', '.join(_returned(node, names))})")
        else:
            raise Unsupported(f"a node is {node.op}")
    return "\n".join([f"graph({', '.join(inputs)}) {{", *lines, "}"]) + "\n"


def _returned(output: fx.Node, names: dict[fx.Node, Any]) -> list[str]:
    returned = []
    for value in results(output.args[0]):
        if not isinstance(value, fx.Node) or not isinstance(names[value], str):
            raise Unsupported("a result is no tensor")
        returned.append(names[value])
    return returned


def graph_device(graph: fx.Graph) -> torch.device | None:
    """The device of most nodes, if it is the CPU or a CUDA GPU."""
    counts: dict[torch.device, int] = {}
    for node in graph.nodes:
        for value in results(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.device.type in ("cpu", "cuda"):
                counts[value.device] = counts.get(value.device, 0) + 1
    return max(counts, key=counts.__getitem__, default=None)
