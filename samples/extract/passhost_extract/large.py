"""Arguments that are too large to be kept: a trace needs their types, and their statistics need few of their values."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

# Elements of which a large tensor is made.
_KEPT = 1 << 22
# What gives each element of a tensor a value of its own, whatever the others are, or all of them the same.
_MAKERS = {"aten::full", "aten::normal", "aten::ones", "aten::rand", "aten::randint", "aten::randn", "aten::zeros"}


# What large tensors were drawn from, by its address. Kept, so that no other tensor gets that.
_DRAWN: dict[int, Tensor] = {}


class FewRows(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Makes large tensors of random numbers and constants from a few rows, which all others repeat without taking memory."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        at = [argument.name for argument in func._schema.arguments].index("size") if func._schema.name in _MAKERS else len(args)
        if at >= len(args) or math.prod(args[at]) <= _KEPT:
            return func(*args, **(kwargs or {}))
        size = list(args[at])
        drawn = func(*args[:at], [_KEPT], *args[at + 1 :], **(kwargs or {}))
        _DRAWN[drawn.data_ptr()] = drawn
        rows = [math.prod(size[dimension + 1 :]) for dimension in range(len(size))]
        return drawn.as_strided(size, [row if row * one <= _KEPT else 0 for row, one in zip(rows, size, strict=True)])


def drawn_from(value: Tensor) -> Tensor:
    """What a large tensor was drawn from, whose statistics are its own; any other tensor itself."""
    return _DRAWN.get(value.data_ptr(), value)
