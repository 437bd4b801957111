"""Tensors and arguments between PyTorch and the text of graphs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

if TYPE_CHECKING:
    from passhost._engine import TensorType

DTYPES = {
    "bool": torch.bool,
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
MEMORY_FORMATS = {
    "contiguous_format": torch.contiguous_format,
    "preserve_format": torch.preserve_format,
    "channels_last": torch.channels_last,
    "channels_last_3d": torch.channels_last_3d,
}
MEMORY_FORMAT_NAMES = {form: name for name, form in MEMORY_FORMATS.items()}

#: The type of a result that an op leaves out.
NO_RESULT: TensorType = ("f32", (0,), (1,))


class Unsupported(Exception):
    """Why something has no text here, so that it stays PyTorch's."""


def tensor_type(value: object) -> TensorType:
    """The type of a tensor, fake or real."""
    if not isinstance(value, torch.Tensor):
        raise Unsupported(f"a result is no tensor but {type(value).__name__}")
    name = DTYPE_NAMES.get(value.dtype)
    if name is None:
        raise Unsupported(f"graphs have no element type {value.dtype}")
    if value.layout is not torch.strided or value.is_quantized or value.is_conj() or value.is_neg():
        raise Unsupported("a tensor is sparse, quantised or lazily conjugated")
    shape, strides = tuple(value.shape), tuple(value.stride())
    if not all(type(extent) is int for extent in (*shape, *strides)):
        raise Unsupported("a shape is symbolic")
    return name, shape, strides


def is_same_type(one: TensorType, other: TensorType) -> bool:
    """Whether both are the same. Along a dimension of one element no stride means anything."""
    strides = zip(one[1], one[2], other[2], strict=False)
    return one[:2] == other[:2] and all(extent == 1 or here == there for extent, here, there in strides)


def type_text(ty: TensorType) -> str:
    """`f32[2,3]`; strides follow where the tensor is not contiguous: `f32[2,3]{1,2}`."""
    dtype, shape, strides = ty
    contiguous, step = [], 1
    for extent in reversed(shape):
        contiguous.append(step)
        step *= max(extent, 1)
    text = f"{dtype}[{','.join(map(str, shape))}]"
    return text if strides == tuple(reversed(contiguous)) else f"{text}{{{','.join(map(str, strides))}}}"


def number_text(value: float) -> str:
    """A number as the parser of graphs reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nan" if isinstance(value, float) and math.isnan(value) else repr(value)


def argument_text(value: object, device: torch.device, name: Callable[[fx.Node], str]) -> str:
    """An argument of a node; `name` says what a tensor is called."""
    if value is None:
        return "none"
    if isinstance(value, fx.Node):
        return name(value)
    if isinstance(value, (bool, int, float)):
        return number_text(value)
    if isinstance(value, torch.dtype):
        if value not in DTYPE_NAMES:
            raise Unsupported(f"graphs have no element type {value}")
        return DTYPE_NAMES[value]
    if isinstance(value, torch.memory_format) and value in MEMORY_FORMAT_NAMES:
        return MEMORY_FORMAT_NAMES[value]
    if value is torch.strided:
        return "strided"
    if isinstance(value, torch.device) and same_device(value, device):
        return "device"
    if isinstance(value, str) and re.fullmatch("[a-z_]{1,32}", value):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(argument_text(item, device, name) for item in value)}]"
    raise Unsupported(f"an argument is {type(value).__name__}")


def same_device(one: torch.device, other: torch.device) -> bool:
    """Whether both are the same, where the current one of a kind goes without a number."""
    if one.type != other.type:
        return False
    return one.type == "cpu" or device_index(one) == device_index(other)


def device_index(device: Any) -> int | None:
    """The number of a GPU; None is the CPU."""
    if device.type == "cpu":
        return None
    return int(torch.cuda.current_device() if device.index is None else device.index)


def call_text(node: fx.Node, device: torch.device, name: Callable[[fx.Node], str]) -> str:
    """`aten::mean.dim(self=%v0, dim=[2, 3])`: the call of an op, each argument by its name."""
    schema = node.target._schema
    given: list[tuple[str, object]] = []
    for declared, value in zip(schema.arguments, node.args, strict=False):
        given.append((declared.name, spread(declared, value)))
    kinds = {declared.name: declared for declared in schema.arguments}
    given += [(key, spread(kinds[key], value)) for key, value in node.kwargs.items()]
    text = ", ".join(f"{key}={argument_text(value, device, name)}" for key, value in given)
    return f"{schema.name}{'.' * bool(schema.overload_name)}{schema.overload_name}({text})"


def spread(declared: Any, value: object) -> object:
    """A number where a list stands in the schema is a list of it."""
    if type(value) in (bool, int, float) and isinstance(declared.type, torch.ListType):
        return [value] * (declared.N or 1)
    return value


def operator(name: str, overload: str) -> Any:
    """An op of `aten`."""
    return getattr(getattr(torch.ops.aten, name), overload or "default")


def constant(argument: Any, device: torch.device) -> object:
    """What PyTorch takes for an argument that is no tensor."""
    match argument:
        case ("dtype", name):
            return DTYPES[name]
        case ("memory_format", name):
            return MEMORY_FORMATS[name]
        case ("strided",):
            return torch.strided
        case ("device",):
            return device
    return argument


def split_arguments(op: Any, values: Sequence[Any]) -> tuple[list[Any], Mapping[str, Any]]:
    """Values in the order of the schema, as positional and keyword arguments."""
    declared = op._schema.arguments
    if len(declared) != len(values):
        raise TypeError(f"{op} has {len(declared)} arguments, found {len(values)}")
    positional = [value for arg, value in zip(declared, values, strict=True) if not arg.kwarg_only]
    return positional, {arg.name: value for arg, value in zip(declared, values, strict=True) if arg.kwarg_only}


def results(value: object) -> list[Any]:
    """The results of an op as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
