"""Whether the ops of the loaded PyTorch are those that graphs have."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import torch

logger = logging.getLogger("passhost")


def loaded_ops(schemas: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Names and overloads of the ops that the loaded PyTorch has with these schemas; logs those that differ."""
    same, others = set(), []
    for text in schemas:
        full = text.partition("(")[0]
        name, _, overload = full.partition(".")
        if _is_same(text, name, overload):
            same.add((name.removeprefix("aten::"), overload))
        else:
            others.append(full.removeprefix("aten::"))
    if others:
        logger.info("%d ops of this PyTorch differ and stay its own: %s", len(others), ", ".join(sorted(others)))
    return frozenset(same)


def _is_same(text: str, name: str, overload: str) -> bool:
    try:
        expected = torch._C.parse_schema(text)
        return _meaning(expected) == _meaning(torch._C._get_schema(name, overload))
    except RuntimeError:
        # PyTorch does not know the op, or a type in its schema.
        return False


def _meaning(schema: Any) -> tuple[Any, ...]:
    """What callers depend on. A size that may be symbolic is an integer here, and results have no names."""
    arguments = [
        (
            argument.name,
            str(argument.type),
            argument.N,
            argument.kwarg_only,
            repr(argument.default_value) if argument.has_default_value() else None,
            _alias(argument),
        )
        for argument in schema.arguments
    ]
    return arguments, [(str(result.type), _alias(result)) for result in schema.returns]


def _alias(value: Any) -> tuple[bool, bool]:
    """Whether memory is shared, and whether it is written to."""
    return value.alias_info is not None, bool(value.alias_info and value.alias_info.is_write)
