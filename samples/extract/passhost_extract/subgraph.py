"""Cutting: from a captured graph to a run of consecutive operations with the tensors that enter it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx

from .capture import Capture
from .errors import ExtractError


@dataclass(frozen=True)
class Input:
    """An argument of a subgraph: its name there, its name in the whole model, and the tensor it held in the captured run."""

    name: str
    original_name: str
    value: Tensor


@dataclass(frozen=True)
class Subgraph:
    """A graph ready to be written.

    Placeholders are `in_0`, `in_1`, ... in order of first use, other nodes `tmp_0`, `tmp_1`, ... in order. `ops` names the operations
    as `op_name` does. `module` is the dotted path of the innermost module that holds all of them, `""` where there is none.
    """

    graph: fx.Graph
    inputs: tuple[Input, ...]
    ops: tuple[str, ...]
    module: str

    def run(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Execute on copies of `inputs`, so that in-place operations don't reach the caller's tensors."""
        with torch.no_grad():
            outputs: tuple[Tensor, ...] = fx.GraphModule(torch.nn.Module(), self.graph)(*(value.clone() for value in inputs))
        return outputs


def op_name(node: fx.Node) -> str:
    """How `cut` spells an operation: `.sigmoid` for a tensor method, else the dotted name (`operator.iadd`, `torch.tanh`)."""
    if node.op == "call_method":
        return f".{node.target}"
    # torch keeps this function private, but it is the one that prints the target into the module's code.
    name: str = torch.fx.node._get_qualified_name(node.target)  # type: ignore[arg-type]
    return name.replace("_operator.", "operator.")


def cut(captured: Capture, ops: Sequence[str] | None = None, occurrence: int = 0) -> Subgraph:
    """Take the operations that match `ops`, in order and with nothing in between; the whole graph where `ops` is None.

    `occurrence` counts matches from zero. Every tensor that the operations read and don't compute, weights included, becomes an
    input; every result that something behind the cut still reads becomes an output. Input values come from a run of the captured
    graph and are those at the moment the cut begins.

    Raises `ExtractError` when nothing matches, or when a value that isn't a tensor crosses the cut.
    """
    graph = captured.graph_module.graph
    calls = [node for node in graph.nodes if node.op in ("call_function", "call_method")]
    for node in graph.nodes:
        if node.op == "call_module":
            raise ExtractError(f"the graph calls the module {node.target!r} as a whole; only graphs of plain torch calls can be written")
    nodes = calls if ops is None else _match(calls, tuple(ops), occurrence)
    inside = set(nodes)

    edges = list(dict.fromkeys(edge for node in nodes for edge in node.all_input_nodes if edge not in inside))
    (output,) = (node for node in graph.nodes if node.op == "output")
    if ops is None:
        # In the order in which the model returns them, an input handed straight back included.
        outputs = list(dict.fromkeys(output.all_input_nodes))
        edges += [node for node in outputs if node not in inside and node not in edges]
    else:
        outputs = [node for node in nodes if any(user not in inside for user in node.users)] or [nodes[-1]]

    values = _EdgeRecorder(captured.graph_module, nodes[0], edges).record(captured.inputs)
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

    inputs = tuple(Input(renamed[edge].name, _original_name(edge), values[edge]) for edge in edges)
    subgraph = Subgraph(new_graph, inputs, tuple(op_name(node) for node in nodes), _module(nodes))
    for node, value in zip(outputs, subgraph.run([item.value for item in inputs]), strict=True):
        if not isinstance(value, Tensor):
            raise ExtractError(
                f"%{node.name} leaves the cut as {type(value).__name__}, and a result must be a tensor; end the cut at another operation"
            )
    return subgraph


def _match(calls: list[fx.Node], ops: tuple[str, ...], occurrence: int) -> list[fx.Node]:
    if not ops:
        raise ExtractError("the list of operations to cut is empty; name at least one, or pass None for the whole graph")
    names = [op_name(node) for node in calls]
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


def _original_name(edge: fx.Node) -> str:
    return str(edge.target) if edge.op in ("placeholder", "get_attr") else edge.name


def _module(nodes: Sequence[fx.Node]) -> str:
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
