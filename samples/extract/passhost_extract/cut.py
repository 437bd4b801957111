"""Cutting: from a captured graph to a run of consecutive operations with the tensors that enter it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx

from .capture import Capture
from .errors import ExtractError
from .plain import refuse_unreadable, target_name
from .subgraph import Input, Subgraph, innermost_module, original_name


def cut(captured: Capture, ops: Sequence[str], occurrence: int = 0) -> Subgraph:
    """Take the operations that match `ops`, in order and with nothing in between.

    `occurrence` counts matches from zero. Every tensor that the operations read and don't compute, weights included, becomes an
    input; every result that something behind the cut still reads becomes an output. Input values come from a run of the captured
    graph and are those at the moment the cut begins. Inputs are called `in_0`, `in_1`, ..., values `tmp_0`, `tmp_1`, ..., in order.

    Raises `ExtractError` when nothing matches, or when a value that isn't a tensor crosses the cut.
    """
    graph = captured.graph_module.graph
    calls = [node for node in graph.nodes if node.op.startswith("call_")]
    nodes = _match(calls, tuple(ops), occurrence)
    refuse_unreadable(nodes, captured.random)
    inside = set(nodes)

    edges = list(dict.fromkeys(edge for node in nodes for edge in node.all_input_nodes if edge not in inside))
    outputs = [node for node in nodes if any(user not in inside for user in node.users)] or [nodes[-1]]

    values = _EdgeRecorder(captured.graph_module, nodes[0], edges).record(captured.inputs) if captured.ran else _types(edges)
    for edge in edges:
        if not isinstance(values[edge], Tensor):
            raise ExtractError(
                f"%{edge.name} enters the cut as {type(values[edge]).__name__}, and an argument must be a tensor; "
                "begin the cut at the operation that computes it"
            )

    new_graph = fx.Graph()
    renamed = {edge: new_graph.placeholder(f"in_{index}") for index, edge in enumerate(edges)}
    for index, node in enumerate(nodes):
        args = fx.node.map_arg(node.args, renamed.__getitem__)
        kwargs = fx.node.map_arg(node.kwargs, renamed.__getitem__)
        renamed[node] = new_graph.create_node(node.op, node.target, args, kwargs, name=f"tmp_{index}")
    new_graph.output(tuple(renamed[node] for node in outputs))

    inputs = tuple(Input(renamed[edge].name, original_name(edge), values[edge]) for edge in edges)
    for node, value in _types(outputs).items():
        if not isinstance(value, Tensor):
            raise ExtractError(
                f"%{node.name} leaves the cut as {type(value).__name__}, and a result must be a tensor; end the cut at another operation"
            )
    return Subgraph(new_graph, inputs, tuple(target_name(node) for node in nodes), innermost_module(nodes))


def _types(nodes: Sequence[fx.Node]) -> dict[fx.Node, Any]:
    """What Dynamo says of values: tensors that have a type and no data."""
    return {node: node.meta.get("example_value") for node in nodes}


def _match(calls: list[fx.Node], ops: tuple[str, ...], occurrence: int) -> list[fx.Node]:
    if not ops:
        raise ExtractError("the list of operations to cut is empty; name at least one, or pass None for the whole graph")
    names = [target_name(node) for node in calls]
    starts = [start for start in range(len(names) - len(ops) + 1) if tuple(names[start : start + len(ops)]) == ops]
    if occurrence not in range(len(starts)):
        absent = sorted(set(ops) - set(names))
        if absent:
            hint = f"never called: {', '.join(absent)}; called: {', '.join(sorted(set(names)))}"
        else:
            hint = "all of them are called, but not in this order without others in between"
            if starts:
                hint = f"{len(starts)} match, counted from 0"
        raise ExtractError(f"no occurrence {occurrence} of the operations {', '.join(ops)} among the {len(names)} of the graph ({hint})")
    start = starts[occurrence]
    return calls[start : start + len(ops)]


class _EdgeRecorder(fx.Interpreter):
    """Runs a graph and copies the values of `edges` as they are when `first` is about to run.

    A constant of the module is fetched where it is used, possibly later than that; it is copied when fetched.
    """

    def __init__(self, graph_module: fx.GraphModule, first: fx.Node, edges: Sequence[fx.Node]) -> None:
        super().__init__(graph_module)
        self._first = first
        self._edges = edges
        self._values: dict[fx.Node, Any] = {}
        self._begun = False

    def record(self, inputs: Sequence[Tensor]) -> dict[fx.Node, Any]:
        with torch.no_grad():
            self.run(*(value.clone() for value in inputs))
        return self._values

    def run_node(self, n: fx.Node) -> Any:
        if n is self._first:
            self._begun = True
            for edge in self._edges:
                if edge in self.env:
                    self._copy(edge, self.env[edge])
        result = super().run_node(n)
        if self._begun and n in self._edges:
            self._copy(n, result)
        return result

    def _copy(self, edge: fx.Node, value: Any) -> None:
        self._values[edge] = value.clone() if isinstance(value, Tensor) else value
