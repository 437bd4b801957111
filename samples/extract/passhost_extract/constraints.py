"""Symbols for the dimensions in which shape variants differ, and the text of `input_tensor_constraints.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import ExtractError

Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class SymbolicShapes:
    """Shapes of a graph's arguments over all variants.

    `dims[argument][axis]` is an int where all variants agree, else the name of a symbol (`S0`, `S1`, ... in order of appearance).
    `values[symbol]` lists the symbol's value in each variant.
    """

    dims: tuple[tuple[int | str, ...], ...]
    values: dict[str, tuple[int, ...]]

    def label(self, variant: int) -> str:
        """A folder name such as `s0-8_s1-197`; `s-fixed` where there is no symbol."""
        return "_".join(f"{symbol.lower()}-{values[variant]}" for symbol, values in self.values.items()) or "s-fixed"


def symbolic_shapes(variants: Sequence[Shapes], names: Mapping[tuple[int, ...], str] | None = None) -> SymbolicShapes:
    """Compare `variants` axis by axis. Axes that take the same values in all variants share a symbol.

    So variants should differ in each independent size by values of its own: a batch of 1 and 8 beside a length of 1 and 8 would
    be taken for one symbol. All variants must have the same number of arguments, of the same ranks.

    `names` says which symbols there are, by their values. Raises `ExtractError` when another axis varies, too.
    """
    symbols: dict[tuple[int, ...], str] = {} if names is None else dict(sorted(names.items(), key=lambda item: int(item[1][1:])))
    dims: list[tuple[int | str, ...]] = []
    for position, argument in enumerate(zip(*variants, strict=True)):
        axes: list[int | str] = []
        for axis, sizes in enumerate(zip(*argument, strict=True)):
            varies = len(set(sizes)) > 1
            if varies and names is not None and sizes not in names:
                raise ExtractError(
                    f"axis {axis} of argument {position} takes the sizes {list(sizes)}, which are those of no symbol that dynamic names; "
                    "leave out the dimension that it follows"
                )
            axes.append(symbols.setdefault(sizes, f"S{len(symbols)}") if varies else sizes[0])
        dims.append(tuple(axes))
    return SymbolicShapes(tuple(dims), {symbol: sizes for sizes, symbol in symbols.items()})


def constraints_text(names: Sequence[str], shapes: SymbolicShapes, variant: int) -> str:
    """Symbols, their values in `variant`, and each argument's shape as literals and bare symbols."""
    symbols = list(shapes.values)
    examples = ", ".join(f"{symbol}: {values[variant]}" for symbol, values in shapes.values.items())
    lines = ["from sympy import Symbol", ""] if symbols else []
    lines += [f'{symbol} = Symbol("{symbol}")' for symbol in symbols] + [""] * bool(symbols)
    lines += [
        f"dynamic_dim_constraint_symbols = [{', '.join(symbols)}]",
        "",
        f"dynamic_dim_constraint_symbol2example_value = {{{examples}}}",
        "",
        "dynamic_dim_constraint_relations = []",
        "",
        "dynamic_dim_constraint_input_shapes = [",
    ]
    for name, axes in zip(names, shapes.dims, strict=True):
        lines.append(f'    ([{", ".join(map(str, axes))}], "{name}"),')
    return "\n".join([*lines, "]"]) + "\n"
