"""Whether a piece computes what eager does, and which of both is faster."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from passhost.dynamo.lower import FIRST_RESULT, is_aten, named, op_key

logger = logging.getLogger("passhost")

Tensors = Sequence[torch.Tensor]
Run = Callable[[list[torch.Tensor]], Tensors]

#: Relative and absolute tolerance of a floating-point type: those of `passhost eval` at t = -5.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (10**-1.796, 1e-5),
    torch.float32: (10**-5.886, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (10**-5.886, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
#: Seconds after which no further pair of runs is timed, and how many pairs there are at least and at most.
BUDGET, FEWEST, MOST = 0.5, 5, 25


def difference(eager: Tensors, ours: Tensors, double: Run, inputs: list[torch.Tensor]) -> str | None:
    """What is wrong with our results, in words. A result outside its tolerance may be as near to a run in double
    precision as eager's is."""
    if len(eager) != len(ours):
        return f"{len(ours)} results instead of {len(eager)}"
    exact: Tensors | None = None
    for position, (expected, found) in enumerate(zip(eager, ours, strict=True)):
        there, here = described(expected), described(found)
        if there != here:
            return f"result {position} is {here} instead of {there}"
        if expected.dtype not in TOLERANCES:
            if not torch.equal(expected, found):
                return f"result {position} differs"
            continue
        wrong = outside(found, expected, expected)
        if not bool(wrong.any()):
            continue
        differs = f"result {position} differs in {int(wrong.sum())} of {wrong.numel()} elements"
        if exact is None:
            try:
                exact = double(inputs)
            except Exception as error:
                return f"{differs}, and cannot be run in float64: {str(error).splitlines()[0]}"
        if not as_near(expected, found, exact[position]):
            return differs
    return None


def described(value: torch.Tensor) -> str:
    """Type, shape, strides where they mean something, and device."""
    strides = tuple(step for extent, step in zip(value.shape, value.stride(), strict=True) if extent > 1)
    return f"{value.dtype} {tuple(value.shape)} {strides if value.numel() else ()} {value.device}"


def wide(value: torch.Tensor) -> torch.Tensor:
    """In double precision."""
    return value.to(torch.complex128 if value.is_complex() else torch.float64)


def outside(found: torch.Tensor, expected: torch.Tensor, kind: torch.Tensor) -> torch.Tensor:
    """Which elements are not equal, not both NaN, and not finite and within the tolerance."""
    relative, absolute = TOLERANCES[kind.dtype]
    found, expected = wide(found), wide(expected)
    near = (found - expected).abs() <= absolute + relative * expected.abs()
    near &= found.isfinite() & expected.isfinite()
    return ~(near | (found == expected) | (found.isnan() & expected.isnan()))


def as_near(eager: torch.Tensor, ours: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether what is off is within tolerance of the exact result, or ours has about eager's error: at most 1.1 times
    the root of its mean square, and twice its largest."""
    off = outside(ours, exact, ours)
    if not bool(off.any()):
        return True
    theirs, mine = (wide(eager) - wide(exact)).abs(), (wide(ours) - wide(exact)).abs()
    if not bool(mine.isfinite().all()) or not bool(mine.max() <= 2 * theirs.max()):
        return False
    return bool(mine.square().mean() <= 1.1**2 * theirs.square().mean())


def laid_out(value: Any, like: Any) -> Any:
    """The same elements with the strides of another tensor."""
    if not isinstance(value, torch.Tensor) or not isinstance(like, torch.Tensor) or value.stride() == like.stride():
        return value
    if value.shape != like.shape or 0 in like.stride():
        return value
    return torch.empty_strided(like.shape, like.stride(), dtype=value.dtype, device=value.device).copy_(value)


class Double(fx.Interpreter):
    """Runs a piece with float64 in place of every other floating-point type."""

    def run_on(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The results for inputs of the types that the piece has."""
        result = self.run(*(self._wide(value) for value in inputs))
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def run_node(self, node: fx.Node) -> Any:
        """The result as it lies in memory in the piece, since views depend on that."""
        result, traced = super().run_node(node), node.meta.get("val")
        if isinstance(result, tuple) and isinstance(traced, (list, tuple)):
            return tuple(laid_out(one, like) for one, like in zip(result, traced, strict=False))
        return laid_out(result, traced)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = (fx.node.map_aggregate(given, self._wide) for given in (args, kwargs))
        name = op_key(target)[0] if is_aten(target) else ""
        rule = None if name.endswith("_for_cpu") else FIRST_RESULT.get(name)
        if rule is not None:
            # Fused attention of GPUs has no float64.
            call = rule(named(target, args, kwargs))
            return (call.op(*call.args, **call.kwargs),)
        return super().call_function(target, args, kwargs)

    @staticmethod
    def _wide(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.to(torch.float64)
        return torch.float64 if isinstance(value, torch.dtype) and value.is_floating_point else value


def times(eager: Run, ours: Run, inputs: list[torch.Tensor], device: torch.device) -> tuple[float, float]:
    """Median microseconds of alternating runs of both, after one that is not counted."""
    measured: tuple[list[float], list[float]] = ([], [])
    runs = (eager, ours)
    for run in runs:
        _timed(run, inputs, device)
    begin = time.perf_counter()
    while len(measured[0]) < MOST and (len(measured[0]) < FEWEST or time.perf_counter() - begin < BUDGET):
        first = len(measured[0]) % 2
        for which in (first, 1 - first):
            measured[which].append(_timed(runs[which], inputs, device))
    return statistics.median(measured[0]), statistics.median(measured[1])


def is_faster(title: str, eager: Run, ours: Run, inputs: list[torch.Tensor], device: torch.device) -> bool:
    """Whether a whole model is faster than it was."""
    eager_us, ours_us = times(eager, ours, inputs, device)
    faster = ours_us < eager_us
    end = "" if faster else "; the model runs as it was"
    logger.info("%s: %.1f us as a whole instead of %.1f us%s", title, ours_us, eager_us, end)
    return faster


def _timed(run: Run, inputs: list[torch.Tensor], device: torch.device) -> float:
    if device.type == "cpu":
        begin = time.perf_counter()
        run(list(inputs))
        return (time.perf_counter() - begin) * 1e6
    with torch.cuda.device(device):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        run(list(inputs))
        end.record()
        end.synchronize()
    return float(start.elapsed_time(end)) * 1e3
