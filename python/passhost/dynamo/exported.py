"""A model as one graph of ATen ops, with its weights as inputs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from passhost.dynamo import values
from passhost.dynamo.lower import is_getitem
from passhost.errors import SettingsError

if TYPE_CHECKING:
    from passhost._engine import Expected

INSTEAD = 'use torch.compile(model, backend="passhost") instead'


@dataclass
class Given:
    """An input or a weight: a tensor of a type, or a constant."""

    #: As `forward` calls it, or the name in the state of the model.
    name: str
    #: What the engine has to find in its place.
    expected: Expected
    value: Any
    #: Whether it is a tensor that the code of the model makes.
    is_made: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor."""
        return self.expected[0] == "tensor"


@dataclass
class Exported:
    """The graph takes the weights, then the inputs that are tensors, and returns the results that are tensors."""

    module: fx.GraphModule
    #: Parameters and buffers by their names in the model, then tensors that its code makes.
    weights: list[Given]
    inputs: list[Given]
    #: Where each result comes from: `("result", place)`, or `("constant", value)`.
    results: list[tuple[str, Any]]
    in_spec: Any
    out_spec: Any


def export(model: torch.nn.Module, inputs: Sequence[Any]) -> Exported:
    """Exports a model at the level of ops that AOTAutograd gives for inference."""
    if torch._C._is_any_autocast_enabled():
        raise SettingsError(f"autocast is on while the model is compiled ahead of time; {INSTEAD}")
    try:
        with torch.no_grad(), warnings.catch_warnings():
            # PyTorch uses what it deprecates.
            warnings.simplefilter("ignore", FutureWarning)
            program = torch.export.export(model, tuple(inputs), strict=False)
            table = torch.export.default_decompositions()
            for op in list(table.keys()):
                # Core ATen's decompositions are left to the lowering, which knows what a pass understands.
                if not (isinstance(op, torch._ops.OpOverload) and torch._export.utils._is_cia_op(op)):
                    table.pop(op)
            program = program.run_decompositions(table)
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise SettingsError(f"torch.export cannot export the model: {reason}; {INSTEAD}") from error
    return _checked(model, program)


def _checked(model: torch.nn.Module, program: torch.export.ExportedProgram) -> Exported:
    graph, signature = program.graph_module.graph, program.graph_signature
    own = own_tensors(model)
    example = iter(pytree.tree_leaves(program.example_inputs))
    weights, inputs = [], []
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for spec in signature.input_specs:
        kind = spec.kind.name
        if kind in ("PARAMETER", "BUFFER"):
            weights.append(_given(spec.target, own[spec.target]))
        elif kind == "CONSTANT_TENSOR":
            weights.append(_given(spec.target, program.constants[spec.target], is_made=True))
        elif kind == "USER_INPUT":
            inputs.append(_given(spec.arg.name, next(example)))
        else:
            raise SettingsError(f"the model has an input of the kind {kind.lower()}; {INSTEAD}")
    for node, given in zip(placeholders, [*weights, *inputs], strict=True):
        if not given.is_tensor:
            graph.erase_node(node)
    results = _results(graph, [(spec.kind.name, spec.target) for spec in signature.output_specs])
    module = fx.GraphModule(program.graph_module, graph)
    return Exported(module, weights, inputs, results, program.call_spec.in_spec, program.call_spec.out_spec)


def own_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name."""
    own: dict[str, torch.Tensor] = dict(model.named_parameters(remove_duplicate=False))
    return own | dict(model.named_buffers(remove_duplicate=False))


def expected(value: Any) -> Expected:
    """What the engine has to find in the place of a value."""
    if not isinstance(value, torch.Tensor):
        return "constant", value
    return "tensor", values.tensor_type(value), values.device_index(value.device)


def _given(name: str, value: Any, is_made: bool = False) -> Given:
    if isinstance(value, torch.Tensor) and type(value) not in (torch.Tensor, torch.nn.Parameter):
        raise SettingsError(f"`{name}` is a {type(value).__name__}; {INSTEAD}")
    try:
        return Given(name, expected(value), value, is_made)
    except values.Unsupported as error:
        raise SettingsError(f"`{name}`: {error}; {INSTEAD}") from None


def _results(graph: fx.Graph, kinds: list[tuple[str, str | None]]) -> list[tuple[str, Any]]:
    """Leaves only tensors among what the graph returns."""
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    for kind, target in kinds:
        if kind != "USER_OUTPUT":
            raise SettingsError(f"the model changes `{target}`; {INSTEAD}")
    places: list[tuple[str, Any]] = []
    returned: list[fx.Node] = []
    memory: dict[fx.Node, int] = {}
    for position, value in enumerate(output.args[0]):
        if not isinstance(value, fx.Node):
            places.append(("constant", value))
            continue
        if not isinstance(value.meta.get("val"), torch.Tensor):
            raise SettingsError(f"result {position} is computed and no tensor; {INSTEAD}")
        source = origin(value)
        if source.op == "placeholder":
            raise SettingsError(f"result {position} is input `{source.name}` or a view of it; {INSTEAD}")
        if source in memory:
            raise SettingsError(f"results {memory[source]} and {position} share memory; {INSTEAD}")
        memory[source] = position
        places.append(("result", len(returned)))
        returned.append(value)
    output.args = (tuple(returned),)
    return places


def origin(node: fx.Node) -> fx.Node:
    """The node whose memory a value lies in."""
    while True:
        call, place = (node.args[0], node.args[1]) if is_getitem(node) else (node, 0)
        if call.op != "call_function" or not isinstance(call.target, torch._ops.OpOverload):
            return node
        schema = call.target._schema
        returned = schema.returns[min(place, len(schema.returns) - 1)].alias_info if schema.returns else None
        if returned is None:
            return node
        bases = [
            value
            for declared, value in zip(schema.arguments, call.args, strict=False)
            if declared.alias_info is not None and isinstance(value, fx.Node)
        ]
        if not bases:
            return node
        node = bases[0]
