"""Whether a piece computes what eager does, and which of both is faster."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (10**-5.886, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
#: Seconds after which no further pair of runs is timed, and how many pairs there are at least and at most.
BUDGET, FEWEST, MOST = 0.5, 5, 25

#: How often a piece whose results are off is run again, on inputs that differ in their last bits, and by how many of
#: the smallest steps of their type these differ at most.
DRAWS, STEPS = 4, 4


@dataclass
class Errors:
    """How far a result of ours is from that in double precision, beside eager's: sums of squares, largest elements."""

    #: What there is to say if ours is too far.
    says: str
    ours: float
    eager: float
    largest: float
    eager_largest: float

    def is_near(self) -> bool:
        """About eager's error: at most 1.1 times the root of its mean square, and twice its largest."""
        return self.ours <= 1.1**2 * self.eager and self.largest <= 2 * self.eager_largest

    def __add__(self, other: Errors) -> Errors:
        """Of both runs."""
        largest = max(self.largest, other.largest), max(self.eager_largest, other.eager_largest)
        return Errors(self.says, self.ours + other.ours, self.eager + other.eager, *largest)


def difference(
    eager: Tensors,
    ours: Tensors,
    double: Run,
    inputs: list[torch.Tensor],
    again: Callable[[list[torch.Tensor]], tuple[Tensors, Tensors]] | None = None,
) -> str | None:
    """What is wrong with our results, in words. A result outside its tolerance may be as near to a run in double
    precision as eager's is. `again` gives both results for other inputs: of a result of few elements one run says
    little, and what is off in the first run is judged by all of them."""
    errors = _errors(eager, ours, double, inputs, set())
    if isinstance(errors, str):
        return errors
    if again is not None and not all(error.is_near() for error in errors.values()):
        for draw in range(DRAWS):
            moved = [nudged(value, draw) for value in inputs]
            more = _errors(*again(moved), double, moved, set(errors))
            if isinstance(more, str):
                return more
            errors = {place: errors[place] + error if place in errors else error for place, error in more.items()}
    return next((error.says for _, error in sorted(errors.items()) if not error.is_near()), None)


def _errors(
    eager: Tensors, ours: Tensors, double: Run, inputs: list[torch.Tensor], of: set[int]
) -> dict[int, Errors] | str:
    """The errors of results that are near neither eager's nor the exact ones, and of those in places that are named; or
    what is wrong without regard to errors."""
    if len(eager) != len(ours):
        return f"{len(ours)} results instead of {len(eager)}"
    exact: Tensors | None = None
    errors = {}
    for position, (expected, found) in enumerate(zip(eager, ours, strict=True)):
        there, here = described(expected), described(found)
        if there != here:
            return f"result {position} is {here} instead of {there}"
        if expected.dtype not in TOLERANCES:
            if not torch.equal(expected, found):
                return f"result {position} differs"
            continue
        wrong = outside(found, expected, expected)
        if position not in of and not bool(wrong.any()):
            continue
        differs = f"result {position} differs in {int(wrong.sum())} of {wrong.numel()} elements"
        if exact is None:
            try:
                exact = double(inputs)
            except Exception as error:
                return f"{differs}, and cannot be run in float64: {str(error).splitlines()[0]}"
        right = exact[position]
        if position not in of and not bool(outside(found, right, found).any()):
            continue
        mine, theirs = ((wide(value) - wide(right)).abs() for value in (found, expected))
        if not bool(mine.isfinite().all()):
            return differs
        sums = mine.square().sum().item(), theirs.square().sum().item()
        errors[position] = Errors(differs, *sums, mine.max().item(), theirs.max().item())
    return errors


def nudged(value: torch.Tensor, draw: int) -> torch.Tensor:
    """Other elements within a few steps of its type, the same ones for the same draw. What is no float stays."""
    if not value.is_floating_point() or 0 in value.stride() or not value.numel():
        return value
    generator = torch.Generator(value.device).manual_seed(draw)
    part = torch.rand(value.shape, generator=generator, dtype=torch.float32, device=value.device) * 2 - 1
    moved = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
    return moved.copy_(value * (1 + part * (STEPS * torch.finfo(value.dtype).eps)))


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
    """Median microseconds of alternating runs of both, after one that is not counted. Few are enough if each of one
    is faster than each of the other."""
    measured: tuple[list[float], list[float]] = ([], [])
    runs = (eager, ours)
    for run in runs:
        _timed(run, inputs, device)
    begin = time.perf_counter()
    while len(measured[0]) < FEWEST or (
        len(measured[0]) < MOST
        and time.perf_counter() - begin < BUDGET
        and max(measured[0]) >= min(measured[1])
        and max(measured[1]) >= min(measured[0])
    ):
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
