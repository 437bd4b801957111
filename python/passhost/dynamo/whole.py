"""Whether a graph of Dynamo is faster as a whole than the model is without passhost: pieces are timed beside ATen ops,
of which one of Dynamo's graph may have become several, and PyTorch's wrapper takes time that no piece has."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.autograd.grad_mode import _unsafe_preserve_version_counter as same_versions

from passhost.dynamo import check
from passhost.dynamo.dynamic import is_transformed
from passhost.dynamo.split import is_repeatable

logger = logging.getLogger("passhost")


def can_run_again(nodes: Sequence[fx.Node]) -> bool:
    """Whether running ops once more changes nothing but inputs and PyTorch's own generators of random numbers."""
    return all(is_repeatable(node) or _draws(node) for node in nodes)


def _draws(node: fx.Node) -> bool:
    """Whether it draws from PyTorch's own generators, and changes nothing."""
    op = node.target
    return (
        isinstance(op, torch._ops.OpOverload)
        and torch.Tag.nondeterministic_seeded in op.tags
        and not op._schema.is_mutable
        and node.kwargs.get("generator") is None
    )


class Whole:
    """Times a graph as it was beside what was compiled, in inference or as a training step."""

    def __init__(self, title: str, is_training: bool, changed: Sequence[int]) -> None:
        self._title = title
        self._is_training = is_training
        #: The places of inputs that a run changes.
        self._changed = changed

    def is_faster(self, as_it_was: Callable[..., Any], ours: Callable[..., Any], inputs: Sequence[Any]) -> bool | None:
        """Whether what was compiled is faster. None if this is no time to find out."""
        devices = {value.device for value in inputs if isinstance(value, torch.Tensor)}
        gpus = sorted((device for device in devices if device.type == "cuda"), key=str)
        changed = [inputs[place] for place in self._changed]
        if not devices or is_transformed() or _is_watched():
            return None
        if gpus and torch.cuda.is_current_stream_capturing():
            return None
        if any(value.requires_grad or value.is_inference() for value in changed):
            return None
        runs = (as_it_was, ours)
        if self._is_training:
            inputs, runs = [_leaf(value) for value in inputs], (_step(as_it_was), _step(ours))
        eager, compiled = ((lambda values, run=run: run(*values)) for run in runs)
        try:
            with _left_as_it_is(changed, gpus):
                return check.is_faster(self._title, eager, compiled, list(inputs), [*gpus, *devices][0])
        except RuntimeError as error:
            # Such as memory that two steps do not leave. The pieces were faster.
            logger.info("%s: not timed as a whole: %s", self._title, str(error).partition("\n")[0])
            return True


def _is_watched() -> bool:
    """Whether somebody counts what runs save, as checkpoints do, or this is part of a backward run."""
    has_hooks = torch._C._autograd._top_saved_tensors_default_hooks(False) is not None
    return has_hooks or torch._C._current_graph_task_id() != -1


def _leaf(value: Any) -> Any:
    """The same memory without history and hooks, so that gradients end there."""
    if isinstance(value, torch.Tensor) and value.requires_grad:
        return value.detach().requires_grad_()
    return value


def _step(run: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    """A run and its gradients."""

    def step(*inputs: Any) -> Sequence[Any]:
        returned = run(*inputs)
        results = [value for value in _flat(returned) if value.requires_grad]
        leaves = [value for value in inputs if isinstance(value, torch.Tensor) and value.requires_grad]
        ones = [torch.ones_like(value) for value in results]
        gradients: tuple[Any, ...] = torch.autograd.grad(results, leaves, ones, allow_unused=True)
        return gradients

    return step


def _flat(returned: Any) -> list[torch.Tensor]:
    values = returned if isinstance(returned, (list, tuple)) else (returned,)
    return [value for value in values if isinstance(value, torch.Tensor)]


@contextmanager
def _left_as_it_is(changed: Sequence[torch.Tensor], gpus: Sequence[torch.device]) -> Iterator[None]:
    """Afterwards, inputs that a run changes and random numbers are as before. Meanwhile autocast casts a weight in each
    run, as it does in each step."""
    kept = [value.detach().clone() for value in changed]
    keeps_casts = torch.is_autocast_cache_enabled()
    with torch.random.fork_rng(gpus), same_versions(tuple(changed)):
        torch.set_autocast_cache_enabled(False)
        try:
            yield
        finally:
            torch.set_autocast_cache_enabled(keeps_casts)
            with torch.no_grad():
                for value, before in zip(changed, kept, strict=True):
                    value.copy_(before)
