"""Which operations of a graph draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.utils._python_dispatch import TorchDispatchMode

# Arguments that turn the randomness of an operation off, and the value that does it.
_SWITCHES = {"dropout_p": 0.0, "train": False, "training": False}


def run_and_watch(graph_module: fx.GraphModule, inputs: Sequence[Any]) -> tuple[Any, frozenset[fx.Node]]:
    """Run the graph; give its outputs and the nodes that drew random numbers.

    The dispatcher knows: each operation that draws carries a tag. So dropout counts where it is on, and only there, whatever
    layer of Python called it.
    """
    interpreter = _Watched(graph_module)
    with torch.no_grad(), interpreter.draws:
        outputs = interpreter.run(*inputs)
    return outputs, frozenset(interpreter.random)


class _Draws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether an operation that draws has run."""

    # They are refused by name later, like everything else that can't be written.
    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tags = getattr(func, "tags", ())
        if torch.Tag.nondeterministic_seeded in tags and not _switched_off(func, args, kwargs or {}):
            self.seen = True
        return func(*args, **(kwargs or {}))


class _Watched(fx.Interpreter):
    def __init__(self, graph_module: fx.GraphModule) -> None:
        super().__init__(graph_module)
        # An error is that of the model, without a page about the graph.
        self.extra_traceback = False
        self.draws = _Draws()
        self.random: set[fx.Node] = set()

    def run_node(self, n: fx.Node) -> Any:
        self.draws.seen = False
        result = super().run_node(n)
        if self.draws.seen:
            self.random.add(n)
        return result


def _switched_off(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    for position, argument in enumerate(func._schema.arguments):
        if argument.name in _SWITCHES:
            given = args[position] if position < len(args) else kwargs.get(argument.name, argument.default_value)
            if given == _SWITCHES[argument.name]:
                return True
    return False
