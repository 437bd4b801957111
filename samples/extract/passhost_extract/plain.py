"""What a graph may hold: plain torch calls that a reader of `model.py` can look up, and that give the same result twice."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx

from .errors import ExtractError

# Calls that change how Python runs and not what is computed without gradients; checks of numbers that the captured run has passed.
_WITHOUT_EFFECT = {
    "torch._C._log_api_usage_once",
    "torch._C._set_grad_enabled",
    "torch._check",
    "torch._check_is_size",
    "torch._check_tensor_all",
    "torch.ops.aten._assert_scalar.default",
    "torch.ops.aten._assert_async.msg",
    "torch._assert_async",
}
# Draws whose result may be dropped where nothing reads it.
_DRAWS = {
    "torch.bernoulli",
    "torch.normal",
    "torch.rand",
    "torch.rand_like",
    "torch.randint",
    "torch.randint_like",
    "torch.randn",
    "torch.randn_like",
    "torch.randperm",
}
_ENTER_AUTOCAST, _EXIT_AUTOCAST = "torch.amp.autocast_mode._enter_autocast", "torch.amp.autocast_mode._exit_autocast"

# Modules whose functions mean something only inside the tracer, with what to do instead.
_PRIVATE = {
    "torch._functorch": "write the torch.vmap or torch.func transform out with broadcasting",
    "torch._C._functorch": "write the torch.vmap or torch.func transform out with broadcasting",
    "torch._dynamo": "replace NumPy and other Python libraries by torch",
    "torch.ops.higher_order": "replace torch.cond and the like by operations on tensors",
    _ENTER_AUTOCAST: "cast the tensors in the model instead of switching autocast on",
}

# Python's names for operators that a tensor has as methods, and that read better as operators.
_NAMES = "add sub mul truediv floordiv mod pow matmul neg invert and or xor eq ne lt le gt ge getitem"
_OPERATORS: dict[str, Callable[..., Any]] = {f"__{name}__": getattr(operator, f"__{name}__") for name in _NAMES.split()}
_OPERATORS["__abs__"] = torch.abs


def target_name(node: fx.Node) -> str:
    """How an operation is spelled: `.sigmoid` for a tensor method, else the dotted name (`operator.iadd`, `torch.tanh`)."""
    if node.op == "call_method":
        return f".{node.target}"
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{node.target.__name__}"
    # torch keeps this function private, but it is the one that prints the target into the module's code.
    name: str = torch.fx.node._get_qualified_name(node.target)  # type: ignore[arg-type]
    return name.replace("_operator.", "operator.")


def drop_what_computes_nothing(graph: fx.Graph) -> None:
    """Take out calls that no value depends on: bookkeeping, disabled autocast, checks of sizes, random numbers that nobody reads.

    Other unused results stay, as the model computes them.
    """
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op in ("call_function", "call_method") and (_without_effect(node) or _unread(node)):
            graph.erase_node(node)


def spell_operators_plainly(graph: fx.Graph) -> None:
    """Write `x.__eq__(y)`, which Dynamo makes of some comparisons, as `x == y`, and the like."""
    for node in graph.nodes:
        if node.op == "call_method" and node.target in _OPERATORS:
            node.op, node.target = "call_function", _OPERATORS[node.target]
        elif node.op == "call_function" and node.target is operator.abs:
            node.target = torch.abs


def refuse_unreadable(nodes: Iterable[fx.Node], random: frozenset[fx.Node]) -> None:
    """Raise `ExtractError` for the first of `nodes` that a sample can't hold, with its name and what to do."""
    for node in nodes:
        if node.op == "call_module":
            raise ExtractError(f"the graph calls the module {node.target!r} as a whole; only graphs of plain torch calls can be written")
        name = target_name(node)
        for prefix, advice in _PRIVATE.items():
            if name == prefix or name.startswith(f"{prefix}."):
                raise ExtractError(f"the graph calls {name}, which means nothing outside the tracer; {advice}, or cut around it")
        if node.op == "call_function" and (_custom_operator(name) or not _leads_to(name, node.target)):
            raise ExtractError(f"the graph calls {name}, which isn't part of torch; cut around it")
        if node in random:
            raise ExtractError(
                f"%{node.name} = {name}({', '.join(map(str, node.args))}) draws random numbers, and a sample must give the same result "
                "twice; switch it off (dropout: training=False), or pass what it draws as an argument"
            )


def _without_effect(node: fx.Node) -> bool:
    name = target_name(node)
    # Enter and exit are dropped together: the exit, being last, leaves the enter without users.
    if name == _EXIT_AUTOCAST:
        (enter,) = node.all_input_nodes
        return not _enables_autocast(enter)
    return name in _WITHOUT_EFFECT or (name == _ENTER_AUTOCAST and not _enables_autocast(node))


def _enables_autocast(enter: fx.Node) -> bool:
    _device, _dtype, enabled, _cache = enter.args
    return bool(enabled)


def _unread(node: fx.Node) -> bool:
    """Whether nobody misses the unused result: a number derived from sizes or read out of a tensor, or random numbers."""
    return isinstance(node.meta.get("example_value"), (torch.SymInt, torch.SymFloat, torch.SymBool)) or target_name(node) in _DRAWS


def _custom_operator(name: str) -> bool:
    """Whether another library than torch registered the operation."""
    return name.startswith("torch.ops.") and not name.startswith("torch.ops.aten.")


def _leads_to(name: str, target: Callable[..., Any] | str) -> bool:
    """Whether the dotted `name` read from torch, Python's operators or built-in functions is `target`."""
    root, *path = name.split(".")
    found: Any = {"torch": torch, "operator": operator}.get(root, builtins if hasattr(builtins, root) and not path else None)
    for part in path if root in ("torch", "operator") else [root]:
        found = getattr(found, part, None)
    return found is target
