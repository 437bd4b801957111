"""Arguments that are too large to be kept: a trace needs their types, and their statistics need few of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

# Elements of which a large tensor is made.
_KEPT = 1 << 22
# What gives each element of a tensor a value of its own, whatever the others are, or all of them the same.
_MAKERS = {"aten::full", "aten::normal", "aten::ones", "aten::rand", "aten::randint", "aten::randn", "aten::zeros"}
# What does so for a tensor of the same shape, beside the operations that PyTorch calls pointwise.
_LIKE = {"aten::clone", "aten::_to_copy", "aten::rand_like", "aten::randn_like", "aten::ones_like", "aten::zeros_like"}
_BLANK = {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"}


# What large tensors were drawn from, by its address. Kept, so that no other tensor gets that.
_DRAWN: dict[int, Tensor] = {}


class FewRows(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Makes large tensors of random numbers and constants from a few rows, which all others repeat without taking memory. What is
    computed from each element of such a tensor alone is made in the same way."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (like := _like(func, args, kwargs or {})) is not None:
            few, named = pytree.tree_map_only(Tensor, drawn_from, (args, kwargs or {}))
            return _repeated(func(*few, **named), like.size(), like.stride())
        at = [argument.name for argument in func._schema.arguments].index("size") if func._schema.name in _MAKERS else len(args)
        if at >= len(args) or math.prod(args[at]) <= _KEPT:
            return func(*args, **(kwargs or {}))
        size = list(args[at])
        drawn = func(*args[:at], [_KEPT], *args[at + 1 :], **(kwargs or {}))
        rows = [math.prod(size[dimension + 1 :]) for dimension in range(len(size))]
        return _repeated(drawn, size, [row if row * one <= _KEPT else 0 for row, one in zip(rows, size, strict=True)])


class Written(FewRows):
    """Does so, or if `few` is off nothing, and knows which tensors nobody has written to. Fails where one of few rows is written to,
    whose rows are no longer alike then."""

    def __init__(self, few: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._few = few
        # By their addresses. Kept, so that no other tensor gets that.
        self._blank: dict[int, Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(zip((one.name for one in func._schema.arguments), args, strict=False)) | (kwargs or {})
        for one in func._schema.arguments:
            if one.alias_info is not None and one.alias_info.is_write and isinstance(value := given.get(one.name), Tensor):
                self._blank.pop(address := value.untyped_storage().data_ptr(), None)
                if address in _DRAWN:
                    raise InPlace
        made = super().__torch_dispatch__(func, types, args, kwargs) if self._few else func(*args, **(kwargs or {}))
        if func._schema.name in _BLANK:
            self._blank[made.untyped_storage().data_ptr()] = made
        return made

    def blank(self, value: Tensor) -> bool:
        """Whether the values of a tensor are those that its memory happened to have."""
        return value.untyped_storage().data_ptr() in self._blank


class InPlace(Exception):
    """A tensor of few rows is written to."""


def drawn_from(value: Tensor) -> Tensor:
    """What a large tensor was drawn from, whose statistics are its own; any other tensor itself."""
    return _DRAWN.get(value.data_ptr(), value)


def _like(func: Any, args: Any, kwargs: Any) -> Tensor | None:
    """The tensor of few rows from whose elements this call computes its own, each from one."""
    if func._schema.is_mutable or not (torch.Tag.pointwise in func.tags or func._schema.name in _LIKE):
        return None
    several = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, Tensor) and one.numel() > 1]
    if not several or any(one.numel() <= _KEPT or one.data_ptr() not in _DRAWN for one in several):
        return None
    return several[0] if len({(one.shape, one.stride()) for one in several}) == 1 else None


def _repeated(drawn: Tensor, size: Sequence[int], strides: Sequence[int]) -> Tensor:
    _DRAWN[drawn.data_ptr()] = drawn
    return drawn.as_strided(size, strides)
