"""What the engine asks of PyTorch: the types that an op returns, and a function that calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from passhost.dynamo import values

if TYPE_CHECKING:
    from passhost._engine import Argument, TensorType


class Library:
    """The ops of PyTorch on one device."""

    def __init__(self, device: torch.device, ops: frozenset[tuple[str, str]]) -> None:
        self.device = device
        self._ops = ops

    def types(self, name: str, overload: str, arguments: list[Argument]) -> list[TensorType]:
        """The result types of a call, from fake tensors. TypeError where the op refuses, or PyTorch has another one."""
        if (name, overload) not in self._ops:
            raise TypeError(f"aten::{name}{'.' * bool(overload)}{overload}: this PyTorch has it with another schema")
        with _disable_current_modes(), torch._C._DisableAutocast(), torch.no_grad(), FakeTensorMode():
            try:
                op = values.operator(name, overload)
                positional, keyword = values.split_arguments(op, [self._fake(argument) for argument in arguments])
                return [values.tensor_type(result) for result in values.results(op(*positional, **keyword))]
            except Exception as error:
                reason = str(error).strip().partition("\n")[0]
                raise TypeError(f"aten::{name}{'.' * bool(overload)}{overload}: {reason}") from None

    def _fake(self, argument: Any) -> object:
        match argument:
            case ("tensor", ty):
                return self._tensor(ty)
            case ("tensors", types) | ("optional_tensors", types):
                return [None if ty is None else self._tensor(ty) for ty in types]
        return values.constant(argument, self.device)

    def _tensor(self, ty: TensorType) -> torch.Tensor:
        dtype, shape, strides = ty
        return torch.empty_strided(shape, strides, dtype=values.DTYPES[dtype], device=self.device)

    def prepare(
        self, name: str, overload: str, arguments: list[Argument]
    ) -> Callable[[list[torch.Tensor]], list[torch.Tensor]]:
        """A function that calls the op with its tensors in the order of their places."""
        op = values.operator(name, overload)
        names: dict[str, object] = {"op": getattr(op, "_op", op)}
        place = 0
        texts = []
        for argument in arguments:
            text, place = self._expression(argument, place, names)
            texts.append(text)
        declared = op._schema.arguments
        values.split_arguments(op, arguments)
        while (
            texts
            and not declared[len(texts) - 1].kwarg_only
            and self._is_default(declared[len(texts) - 1], arguments[len(texts) - 1])
        ):
            texts.pop()
        given = [
            f"{arg.name}={text}" if arg.kwarg_only else text
            for arg, text, argument in zip(declared, texts, arguments, strict=False)
            if not (arg.kwarg_only and self._is_default(arg, argument))
        ]
        call = f"op({', '.join(given)})"
        returns = op._schema.returns
        one = len(returns) == 1 and not isinstance(returns[0].type, torch.ListType)
        results = f"[{call}]" if one else f"list({call})"
        if any(argument.name == "output_mask" for argument in declared):
            with _disable_current_modes():
                names["none"] = torch.empty(0, device=self.device)
            results = f"[none if result is None else result for result in {call}]"
        # The text holds names of the schema and places; constants are bound, never written.
        prepared: Callable[[list[torch.Tensor]], list[torch.Tensor]] = eval(f"lambda t: {results}", names)
        return prepared

    def _expression(self, argument: Any, place: int, names: dict[str, object]) -> tuple[str, int]:
        match argument:
            case ("tensor",):
                return f"t[{place}]", place + 1
            case ("tensors", int(count)):
                return f"[{', '.join(f't[{place + i}]' for i in range(count))}]", place + count
            case ("optional_tensors", list(present)):
                items = []
                for there in present:
                    items.append(f"t[{place}]" if there else "None")
                    place += bool(there)
                return f"[{', '.join(items)}]", place
        key = f"c{len(names)}"
        names[key] = values.constant(argument, self.device)
        return key, place

    def _is_default(self, declared: Any, argument: Any) -> bool:
        if not declared.has_default_value():
            return False
        value = values.constant(argument, self.device)
        return type(value) is type(declared.default_value) and repr(value) == repr(declared.default_value)
