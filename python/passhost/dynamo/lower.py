"""Writes ops of AOTAutograd's level that graphs do not have as ops that they have."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import _disable_current_modes

from passhost.dynamo.values import Unsupported, argument_text, call_text, results, same_device, tensor_type

aten = torch.ops.aten
Ops = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Call:
    """An op that is written in place of another."""

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: Whether its result is the first of several of the other.
    is_first: bool = False


def is_getitem(node: fx.Node) -> bool:
    """Whether a node takes one of several results."""
    return node.op == "call_function" and node.target is operator.getitem


def bound(node: fx.Node) -> dict[str, Any]:
    """The arguments of a node by name, defaults included."""
    return named(node.target, node.args, node.kwargs)


def named(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of an op by name, defaults included."""
    given = dict(kwargs)
    for position, declared in enumerate(op._schema.arguments):
        if position < len(args):
            given[declared.name] = args[position]
        elif declared.name not in given:
            given[declared.name] = declared.default_value if declared.has_default_value() else None
    return given


def _batch_norm(given: Mapping[str, Any]) -> Call:
    names = ("input", "weight", "bias", "running_mean", "running_var")
    statistics = (False, given["momentum"], given["eps"], False)
    return Call(aten.batch_norm.default, (*(given[name] for name in names), *statistics), {}, True)


def _attention(given: Mapping[str, Any]) -> Call:
    if given["dropout_p"] != 0.0:
        raise Unsupported("attention draws random numbers")
    mask = given.get("attn_mask", given.get("attn_bias"))
    positional = (given["query"], given["key"], given["value"], mask, 0.0, given["is_causal"])
    return Call(aten.scaled_dot_product_attention.default, positional, {"scale": given["scale"]}, True)


def _index(given: Mapping[str, Any]) -> Call:
    return Call(aten.index.Tensor, (given["self"], given["indices"]), {})


def _index_put(given: Mapping[str, Any]) -> Call:
    names = ("self", "indices", "values", "accumulate")
    return Call(aten.index_put.default, tuple(given[name] for name in names), {})


def _convolution(given: Mapping[str, Any]) -> Call | None:
    dims = given["weight"].meta["val"].dim() - 2
    first = tuple(given[name] for name in ("input", "weight", "bias", "stride", "padding"))
    if not 1 <= dims <= 3:
        return None
    if given["transposed"]:
        rest = tuple(given[name] for name in ("output_padding", "groups", "dilation"))
        ops = aten.conv_transpose1d.default, aten.conv_transpose2d.input, aten.conv_transpose3d.input
        return Call(ops[dims - 1], (*first, *rest), {})
    ops = aten.conv1d.default, aten.conv2d.default, aten.conv3d.default
    return Call(ops[dims - 1], (*first, given["dilation"], given["groups"]), {})


#: Ops that have another name here. Passes know convolutions by the names that models give them.
RENAMED: dict[str, Callable[[Mapping[str, Any]], Call | None]] = {
    "_unsafe_index": _index,
    "_unsafe_index_put": _index_put,
    "convolution": _convolution,
}

#: Ops whose first result is that of another, if nobody takes the others.
FIRST_RESULT: dict[str, Callable[[Mapping[str, Any]], Call]] = {
    "_native_batch_norm_legit_no_training": _batch_norm,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_cudnn_attention": _attention,
}


def _with_numbers(node: fx.Node, ops: Ops) -> Call | None:
    """The overload that takes numbers where the node has them in place of tensors."""
    given = {name: value for name, value in bound(node).items() if value is not None}
    packet = getattr(aten, op_key(node.target)[0])
    for overload in packet.overloads():
        op = getattr(packet, overload)
        kinds = {declared.name: declared.type for declared in op._schema.arguments}
        if op is not node.target and op_key(op) in ops and not op._schema.is_mutable and given.keys() <= kinds.keys():
            if not any(_is_misplaced(kinds[name], value) for name, value in given.items()):
                return Call(op, (), given)
    if len(node.args) >= 2 and isinstance(node.args[1], fx.Node) and not isinstance(node.args[0], fx.Node):
        swapped = {"add": aten.add.Scalar, "mul": aten.mul.Scalar, "sub": aten.rsub.Scalar}
        op = swapped.get(op_key(node.target)[0])
        if op is not None and op_key(op) in ops and not node.kwargs:
            return Call(op, (node.args[1], node.args[0]), {})
    return None


def _is_misplaced(kind: Any, value: object) -> bool:
    """A number where a tensor stands in the schema, or a tensor where a number does."""
    if isinstance(value, fx.Node):
        return "Tensor" not in str(kind)
    return isinstance(value, (bool, int, float)) and "Tensor" in str(kind)


def _takes_others(node: fx.Node) -> bool:
    """Whether anybody takes more than the first result of a node."""
    return any(not is_getitem(user) or user.args[1] != 0 for user in node.users)


#: Ops that PyTorch does better inside one of its own: an op whose decomposition has one stays whole.
INSEPARABLE = frozenset(
    ("mm", "bmm", "addmm", "baddbmm", "convolution", "index", "index_put", "scatter", "scatter_add", "index_add")
)

#: Ops that are taken apart all the same: the scatter of theirs checks its indices, and they do not.
SEPARABLE = frozenset(("nll_loss_backward", "nll_loss2d_backward"))

#: Ops whose gradient writes where their second result says, without a check: a pass must not calculate that.
UNCHECKED = frozenset(
    ("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d")
)


@functools.cache
def decompositions(ops: Ops) -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of functional ops that are not listed."""
    table: dict[Any, Callable[..., Any]] = dict(torch._decomp.core_aten_decompositions())
    training = aten._native_batch_norm_legit_functional.default
    table |= torch._decomp.get_decompositions([training, aten._native_batch_norm_legit.no_stats])
    table[training] = functools.partial(_with_types_of_statistics, table[training])
    return {op: rule for op, rule in table.items() if not (is_aten(op) and op_key(op) in ops)}


def _with_types_of_statistics(rule: Callable[..., Any], *given: Any) -> tuple[torch.Tensor, ...]:
    """New statistics of a batch norm in the types of the old ones, as the op gives them and PyTorch's rule does not."""
    *first, mean, variance = rule(*given)
    return *first, mean.to(given[3].dtype), variance.to(given[4].dtype)


def is_aten(target: object) -> bool:
    """Whether a node calls an op of PyTorch's own."""
    return isinstance(target, torch._ops.OpOverload) and target.namespace == "aten"


def op_key(op: Any) -> tuple[str, str]:
    """Name and overload, as the engine lists them."""
    schema = op._schema
    return schema.name.removeprefix("aten::"), schema.overload_name


class Lowering:
    """Says of each node whether it can be part of a graph, and makes it one."""

    def __init__(self, ops: Ops, device: torch.device) -> None:
        self.ops = ops
        self.device = device
        self._expansions: dict[fx.Node, fx.Graph | None] = {}

    def supports(self, node: fx.Node) -> bool:
        """Whether the node can be part of a graph as it is, by another name, or decomposed."""
        if is_getitem(node):
            source = node.args[0]
            return isinstance(source, fx.Node) and is_aten(source.target) and self.supports(source)
        if node.op != "call_function" or not is_aten(node.target) or node.target._schema.is_mutable:
            return False
        try:
            self._check_types(node)
            return self.is_listed(node) or self._other_name(node) is not None or self._expansion(node) is not None
        except Unsupported:
            return False

    def is_listed(self, node: fx.Node) -> bool:
        """Whether the op is listed and its arguments have a text."""
        if not is_aten(node.target) or op_key(node.target) not in self.ops:
            return False
        if op_key(node.target)[0] in UNCHECKED and _takes_others(node):
            return False
        if node.target in (aten.batch_norm.default, aten.instance_norm.default):
            given = bound(node)
            if given.get("training", given.get("use_input_stats")):
                return False
        if node.target is aten._native_multi_head_attention.default and not bound(node)["need_weights"]:
            # Its second result is no tensor then, other than its fake tensors say.
            return False
        kinds = {declared.name: declared.type for declared in node.target._schema.arguments}
        given = bound(node)
        if any(_is_misplaced(kinds[name], value) for name, value in given.items()) or given.get("dropout_p"):
            return False
        # An offset counts from where memory begins, in which other tensors come first here.
        if given.get("storage_offset") is not None:
            return False
        try:
            call_text(node, self.device, lambda _: "")
        except Unsupported:
            return False
        return True

    def _stays(self, node: fx.Node) -> bool:
        """Whether the op is listed, and not one of AOTAutograd's that has another name here."""
        name = op_key(node.target)[0] if is_aten(node.target) else ""
        is_other = name in FIRST_RESULT or name in RENAMED
        return self.is_listed(node) and not (is_other and self._other_name(node) is not None)

    def _check_types(self, node: fx.Node) -> None:
        produced = results(node.meta.get("val"))
        if op_key(node.target)[0] in FIRST_RESULT:
            # The others, such as the state of a generator of random numbers, are nobody's: `_other_name` sees to that.
            produced = produced[:1]
        if len(produced) > 1:
            # A result that an op leaves out is an empty tensor.
            produced = [value for value in produced if value is not None]
        operands = [operand.meta.get("val") for operand in node.all_input_nodes]
        for value in [*produced, *operands]:
            for item in results(value):
                tensor_type(item)
                if not same_device(item.device, self.device):
                    raise Unsupported("a tensor is on another device")

    def _other_name(self, node: fx.Node) -> Call | None:
        name = op_key(node.target)[0]
        rule = FIRST_RESULT.get(name)
        if name in RENAMED:
            call = RENAMED[name](bound(node))
        elif rule is None:
            call = _with_numbers(node, self.ops)
        elif _takes_others(node):
            return None
        else:
            call = rule(bound(node))
        if call is None or op_key(call.op) not in self.ops:
            return None
        for value in (*call.args, *call.kwargs.values()):
            argument_text(value, self.device, lambda _: "")
        return call

    def _expansion(self, node: fx.Node) -> fx.Graph | None:
        if node not in self._expansions:
            self._expansions[node] = self._decompose(node)
        return self._expansions[node]

    def _decompose(self, node: fx.Node) -> fx.Graph | None:
        table = decompositions(self.ops)
        if node.target not in table:
            return None
        operands = node.all_input_nodes

        def call(*tensors: torch.Tensor) -> Any:
            values = dict(zip(operands, tensors, strict=True))
            take = values.__getitem__
            return node.target(*fx.map_arg(node.args, take), **fx.map_arg(node.kwargs, take))

        try:
            fake = next(value for operand in operands for value in results(operand.meta["val"])).fake_mode
            with _disable_current_modes(), torch._C._DisableAutocast(), torch.no_grad(), fake:
                traced = make_fx(call, decomposition_table=table)(*(operand.meta["val"] for operand in operands))
        except Exception:
            return None
        traced.graph.eliminate_dead_code()
        for step in traced.graph.nodes:
            if step.op in ("placeholder", "output") or is_getitem(step):
                continue
            is_whole = op_key(step.target)[0] in INSEPARABLE and op_key(node.target)[0] not in SEPARABLE
            if is_whole or not self.supports(step):
                return None
        return self.lower(traced.graph)

    def lower(self, graph: fx.Graph) -> fx.Graph:
        """A copy of the graph in which every op is listed."""
        lowered = fx.Graph()
        env: dict[fx.Node, Any] = {}
        for node in graph.nodes:
            if is_getitem(node) and not isinstance(env[node.args[0]], fx.Node):
                env[node] = env[node.args[0]][node.args[1]]
            elif node.op != "call_function" or is_getitem(node) or self._stays(node):
                env[node] = lowered.node_copy(node, env.__getitem__) if node.op != "output" else None
                if node.op == "output":
                    lowered.output(fx.map_arg(node.args[0], env.__getitem__))
            elif (other := self._other_name(node)) is not None:
                args, kwargs = (fx.map_arg(given, env.__getitem__) for given in (other.args, other.kwargs))
                new = lowered.call_function(other.op, args, kwargs)
                new.meta["val"] = node.meta["val"][0] if other.is_first else node.meta["val"]
                env[node] = (new,) if other.is_first else new
            else:
                expansion = self._expansion(node)
                if expansion is None:
                    raise Unsupported(f"{node.target} is on no list")
                inner = dict(
                    zip(
                        (step for step in expansion.nodes if step.op == "placeholder"),
                        (env[operand] for operand in node.all_input_nodes),
                        strict=True,
                    )
                )
                env[node] = lowered.graph_copy(expansion, inner)
        return lowered
