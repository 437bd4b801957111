"""Finds linear layers that AOTAutograd took apart: one call in place of views, a transposition and a product."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

aten = torch.ops.aten
_VIEWS = (aten.view.default, aten._unsafe_view.default, aten.reshape.default)


def compose_linear(graph: fx.Graph) -> None:
    """Writes `linear` where a graph has its parts, in place. Parts that others take stay."""
    for node in list(graph.nodes):
        if node.target is aten.addmm.default and not node.kwargs:
            bias, rows, turned = node.args
            if bias.meta["val"].dim() != 1 or bias.meta["val"].shape[0] != node.meta["val"].shape[1]:
                continue
        elif node.target is aten.mm.default:
            bias, (rows, turned) = None, node.args
        else:
            continue
        weight = _turned_back(turned)
        if weight is not None:
            _compose(graph, node, rows, weight, bias)
    graph.eliminate_dead_code()


def _turned_back(node: fx.Node) -> fx.Node | None:
    """The matrix of which a node is the transposed one, if it lies row by row."""
    is_turned = node.target is aten.t.default or (
        node.target is aten.transpose.int and {dim % 2 for dim in node.args[1:]} == {0, 1}
    )
    weight = node.args[0] if is_turned else None
    return weight if isinstance(weight, fx.Node) and weight.meta["val"].is_contiguous() else None


def _compose(graph: fx.Graph, node: fx.Node, rows: fx.Node, weight: fx.Node, bias: fx.Node | None) -> None:
    source: Any = rows.args[0] if rows.target in _VIEWS else None
    shape = _shape(source)
    if len(shape) > 2 and source.meta["val"].is_contiguous() and shape[-1] == rows.meta["val"].shape[1]:
        expected = (*shape[:-1], node.meta["val"].shape[1])
        if all(user.target in _VIEWS and _shape(user) == expected for user in node.users):
            users = list(node.users)
            _replace(graph, users, node, (source, weight, bias), users[0].meta["val"] if users else None)
            return
    if rows.meta["val"].is_contiguous():
        _replace(graph, [node], node, (rows, weight, bias), node.meta["val"])


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape) if isinstance(node, fx.Node) else ()


def _replace(graph: fx.Graph, old: list[fx.Node], before: fx.Node, args: tuple[Any, ...], value: object) -> None:
    with graph.inserting_before(before):
        new = graph.call_function(aten.linear.default, args)
    new.meta["val"] = value
    for node in old:
        node.replace_all_uses_with(new)
