"""Dimensions that the caller names: is the graph the same when they have another size?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .errors import ExtractError

# Which dimension of which argument of the model is which symbol: {"x": {0: "S0"}}.
Dynamic = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True)
class Probe:
    """A call in which every named dimension has another size, and the sizes of each symbol in the original call and in this one."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    sizes: dict[str, tuple[int, int]]


def probe(model_or_fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Dynamic) -> Probe:
    """Resize the tensors of a call along the dimensions that `dynamic` names, by repeating what they hold.

    S0 doubles, S1 triples and so on: no two symbols that were equal stay so, and what had to be a multiple of something still is.

    Raises `ExtractError` when an argument, a dimension or a symbol isn't there or doesn't fit.
    """
    positional = dict(zip(_parameters(model_or_fn), args, strict=False))
    given = {**positional, **kwargs}
    sizes: dict[str, tuple[int, int]] = {}
    for argument, dims in dynamic.items():
        tensor = given.get(argument)
        if not isinstance(tensor, Tensor):
            tensors = ", ".join(name for name, value in given.items() if isinstance(value, Tensor))
            raise ExtractError(f"dynamic names {argument!r}, which is no tensor argument of this call; there are: {tensors}")
        for dim, symbol in dims.items():
            if not re.fullmatch(r"S\d{1,2}", symbol):
                raise ExtractError(f"dynamic calls dimension {dim} of {argument!r} {symbol!r}; a symbol is S0, S1, ...")
            if dim not in range(tensor.dim()) or tensor.shape[dim] == 0:
                raise ExtractError(f"dynamic names dimension {dim} of {argument!r}, whose shape is {list(tensor.shape)}")
            old = tensor.shape[dim]
            new = old * (int(symbol[1:]) + 2)
            if sizes.setdefault(symbol, (old, new)) != (old, new):
                known = sizes[symbol][0]
                raise ExtractError(f"{symbol} is {known} elsewhere and {old} in dimension {dim} of {argument!r}; use another symbol")
            tensor = tensor.index_select(dim, torch.arange(new, device=tensor.device) % old)
        given[argument] = tensor
    resized = tuple(given[name] for name in positional) + args[len(positional) :]
    return Probe(resized, {name: given[name] for name in kwargs}, sizes)


def _parameters(model_or_fn: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(model_or_fn.forward if isinstance(model_or_fn, torch.nn.Module) else model_or_fn).parameters)
    except ValueError as error:
        name = getattr(model_or_fn, "__name__", repr(model_or_fn))
        raise ExtractError(f"{name} doesn't say what its arguments are called; wrap it in a function of your own to use dynamic") from error
