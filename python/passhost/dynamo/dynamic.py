"""Graphs that are compiled when they are called: for each set of sizes that Dynamo left open, up to a limit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from passhost.dynamo.locks import compile_lock

logger = logging.getLogger("passhost")

#: How many sets of sizes of one graph are compiled. The model runs as it was with those that come later.
LIMIT = 16

_TRANSFORM, _MODE = torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode, torch._C.DispatchKey.Python
_has_key, _mode = torch._C._dispatch_tls_is_dispatch_key_included, torch._C._get_dispatch_mode
_Key = torch._C._TorchDispatchModeKey
_TRACERS = (_Key.PROXY, _Key.FAKE, _Key.FUNCTIONAL)


def is_open(example_inputs: Sequence[Any]) -> bool:
    """Whether a size is symbolic."""
    return any(
        isinstance(value, torch.SymInt)
        or (isinstance(value, torch.Tensor) and any(isinstance(extent, torch.SymInt) for extent in value.shape))
        for value in example_inputs
    )


def has_tangents() -> bool:
    """Whether tensors may have tangents: forward-mode differentiation is on. Kernels calculate none."""
    return bool(forward_ad._current_level >= 0)


def is_transformed() -> bool:
    """Whether a transform of `torch.func` is on, or something that traces: tensors may stand for others then."""
    return _has_key(_TRANSFORM) or (_has_key(_MODE) and any(_mode(key) is not None for key in _TRACERS))


class BySizes:
    """Calls what was compiled for the sizes of the arguments."""

    def __init__(self, as_it_was: Callable[..., Any], compile: Callable[[Sequence[Any]], Callable[..., Any]]) -> None:
        self._as_it_was = as_it_was
        self._compile = compile
        self._compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        if has_tangents():
            return self._as_it_was(*arguments)
        key = tuple((value.shape, value.stride()) if isinstance(value, torch.Tensor) else value for value in arguments)
        run = self._compiled.get(key)
        if run is None:
            run = self._add(key, arguments)
        return run(*arguments)

    def _add(self, key: tuple[Any, ...], arguments: Sequence[Any]) -> Callable[..., Any]:
        with compile_lock:
            if key not in self._compiled:
                if len(self._compiled) >= LIMIT:
                    return self._as_it_was
                self._compiled[key] = self._compile(arguments)
                if len(self._compiled) == LIMIT:
                    logger.info("%d sets of sizes are compiled, and no further ones of this graph", LIMIT)
            return self._compiled[key]
