"""The text of `weight_meta.py`: for each argument its type and the statistics from which inputs are drawn again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .errors import ExtractError
from .large import drawn_from

# Integer tensors up to this many elements are written out in full.
_LITERAL_ELEMENTS = 64
# A float tensor that reaches down to here is an additive mask, and its bounds are what matters.
_MASK_BOUND = -1e4


def cast(value: Tensor, dtype: torch.dtype) -> Tensor:
    """`value` in `dtype` if it is a float tensor, unchanged if it holds integers or bools.

    Finite values stay finite: what exceeds the range of `dtype` becomes its largest value, so that the minimum of float32 in a
    mask becomes the minimum of float16, as in a model that was built in float16.
    """
    if not value.is_floating_point():
        return value
    limit = torch.finfo(dtype).max
    clamped = value.double().clamp(-limit, limit)
    return torch.where(value.isfinite(), clamped, value.double()).to(dtype)


def weight_meta_text(arguments: Sequence[tuple[str, str, Tensor]]) -> str:
    """One class for each of `arguments` (name, original name, value), in order.

    `mean` and `std` (of the population, so that one element has 0) are computed in float64 and keep nine significant digits, which
    name a float32 exactly. Integers have `min_val`, `max_val`, and small ones `data`; so have float masks their bounds.
    """
    return "\n\n".join(_class_text(*argument) for argument in arguments)


def _class_text(name: str, original_name: str, value: Tensor) -> str:
    if value.is_complex():
        raise ExtractError(f"{original_name} is a {value.dtype} tensor, and the layout has no complex dtypes; cut around what makes it")
    mean = std = data = "None"
    bounds: list[str] = []
    if value.is_floating_point() and value.numel() > 0:
        wide = drawn_from(value).double()
        mean, std = _rounded(wide.mean().item()), _rounded(wide.std(correction=0).item())
        if wide.min().item() <= _MASK_BOUND:
            bounds = _bounds(wide)
    elif value.dtype != torch.bool and value.numel() > 0:
        bounds = _bounds(drawn_from(value))
        if value.numel() <= _LITERAL_ELEMENTS:
            data = repr(value.flatten().tolist())
    lines = [
        f"class Program_weight_tensor_meta_{name}:",
        f'\tname = "{name}"',
        f'\toriginal_name = "{original_name}"',
        f"\tshape = {list(value.shape)}",
        f'\tdtype = "{value.dtype}"',
        f'\tdevice = "{value.device}"',
        f"\tmean = {mean}",
        f"\tstd = {std}",
        *bounds,
        f"\tdata = {data}",
    ]
    return "\n".join(lines) + "\n"


def _bounds(value: Tensor) -> list[str]:
    return [f"\tmin_val = {_literal(value.min().item())}", f"\tmax_val = {_literal(value.max().item())}"]


def _rounded(value: float) -> str:
    return _literal(float(f"{value:.9g}"))


def _literal(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'
