"""The whole graph of a model, ready to be written."""

from __future__ import annotations

import operator
from typing import Any

from torch import Tensor, fx

from .capture import Capture
from .errors import ExtractError
from .plain import refuse_unreadable, target_name
from .subgraph import Input, Subgraph, innermost_module, original_name


def whole(captured: Capture) -> Subgraph:
    """Every operation of the captured graph, with the names that Dynamo gave.

    Arguments are called by where the model keeps them (`L_x_`, `L_self_modules_0_parameters_weight_`); a constant that the model's
    code holds is one too. Those that no operation reads are left out, the others stand in order of first use. The results are the
    tensors that the model returns, or keeps in itself, in order, each once, however dicts and tuples nest them.

    Raises `ExtractError` when an operation can't be written, when a result isn't a tensor, or when there is none.
    """
    graph = captured.graph_module.graph
    (output,) = (node for node in graph.nodes if node.op == "output")
    calls = [node for node in graph.nodes if node.op.startswith("call_")]
    refuse_unreadable(calls, captured.random)
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    values: dict[fx.Node, Any] = dict(zip(placeholders, captured.inputs, strict=True))
    results = list(dict.fromkeys(output.all_input_nodes))
    if not results:
        raise ExtractError("the model returns no tensor that it computes; return what is to be compared")
    edges = list(dict.fromkeys(edge for node in (*calls, output) for edge in node.all_input_nodes if not edge.op.startswith("call_")))

    new_graph = fx.Graph()
    renamed: dict[fx.Node, fx.Node] = {}
    inputs = []
    for edge in edges:
        value = values[edge] if edge in values else operator.attrgetter(str(edge.target))(captured.graph_module)
        if not isinstance(value, Tensor):
            raise ExtractError(f"the graph reads {edge.target}, which is {type(value).__name__} and must be a tensor")
        name = str(edge.target).replace(".", "_") if edge.op == "get_attr" else str(edge.target)
        renamed[edge] = new_graph.create_node("placeholder", name, name=name)
        # The graph makes names unique; the target is what the signature spells.
        renamed[edge].target = renamed[edge].name
        inputs.append(Input(renamed[edge].name, original_name(edge), value.detach()))
    for node in calls:
        args = fx.node.map_arg(node.args, renamed.__getitem__)
        kwargs = fx.node.map_arg(node.kwargs, renamed.__getitem__)
        renamed[node] = new_graph.create_node(node.op, node.target, args, kwargs, name=node.name)
    new_graph.output(tuple(renamed[node] for node in results))

    for node in results:
        example = node.meta.get("example_value")
        if example is not None and not isinstance(example, Tensor):
            kind = type(example).__name__
            raise ExtractError(f"the model returns %{node.name}, which is {kind}, and a result must be a tensor; return a tensor")
    return Subgraph(new_graph, tuple(inputs), tuple(target_name(node) for node in calls), innermost_module(calls))
