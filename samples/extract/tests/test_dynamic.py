"""Dimensions named up front: the graph is traced with other sizes there, and must stay the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Gated
from torch import Tensor

from passhost_extract import ExtractError, extract
from passhost_extract.constraints import symbolic_shapes
from passhost_extract.dynamic import Dynamic


def constraints(folder: Path) -> str:
    return (folder / "input_tensor_constraints.py").read_text()


def test_one_call_gives_symbols(gated: Gated, tmp_path: Path) -> None:
    extract("gated", out=tmp_path, layout="graph", dynamic={"x": {0: "S0"}})(gated)(torch.randn(4, 8))
    text = constraints(tmp_path / "gated")
    assert "symbol2example_value = {S0: 4}" in text
    assert '([S0, 8], "L_x_")' in text
    assert '([8, 8], "L_self_modules_gate_parameters_weight_")' in text


def test_sizes_that_are_equal_by_chance_get_symbols_of_their_own(tmp_path: Path) -> None:
    wrapped = extract("attend", out=tmp_path, dynamic={"scores": {0: "S0", 2: "S1", 3: "S1"}, "bias": {0: "S1", 1: "S1"}})(
        lambda scores, bias: (scores + bias).softmax(-1)
    )
    wrapped(torch.randn(4, 4, 4, 4), torch.randn(4, 4))
    wrapped(torch.randn(2, 4, 6, 6), torch.randn(6, 6))
    folders = (tmp_path / "attend/graph_list.txt").read_text().splitlines()
    assert [Path(folder).parts[-2] for folder in folders] == ["s0-4_s1-4", "s0-2_s1-6"]
    text = constraints(tmp_path / "attend" / folders[1])
    assert "{S0: 2, S1: 6}" in text
    assert '([S0, 4, S1, S1], "L_scores_")' in text
    assert '([S1, S1], "L_bias_")' in text


def test_keyword_arguments_and_integers_are_resized(tmp_path: Path) -> None:
    embedding = torch.nn.Embedding(10, 4).eval()
    wrapped = extract("embed", out=tmp_path, layout="graph", dynamic={"input": {0: "S0", 1: "S1"}})(embedding)
    wrapped(input=torch.randint(10, (2, 3)))
    assert '([S0, S1], "L_input_")' in constraints(tmp_path / "embed")


def flattened(x: Tensor) -> Tensor:
    return x.exp().view(x.shape[0] * 8)


def fixed(x: Tensor) -> Tensor:
    return x + torch.ones(4, 8)


@pytest.mark.parametrize(
    ("function", "dynamic", "message"),
    [
        (
            flattened,
            {"x": {0: "S0"}},
            r"with S0 = 8 in place of 4 the graph has `.*view\(64\)` in place of `.*view\(32\)`.*once for each shape",
        ),
        (fixed, {"x": {0: "S0"}}, "with S0 = 8 in place of 4 the model fails; leave that dimension out"),
        (flattened, {"y": {0: "S0"}}, "dynamic names 'y', which is no tensor argument of this call; there are: x"),
        (torch.exp, {"x": {0: "S0"}}, "exp doesn't say what its arguments are called; wrap it in a function of your own"),
        (flattened, {"x": {2: "S0"}}, r"dynamic names dimension 2 of 'x', whose shape is \[4, 8\]"),
        (flattened, {"x": {0: "batch"}}, "dynamic calls dimension 0 of 'x' 'batch'; a symbol is S0, S1"),
        (flattened, {"x": {0: "S0", 1: "S0"}}, "S0 is 4 elsewhere and 8 in dimension 1 of 'x'; use another symbol"),
    ],
    ids=["size in the text", "fixed elsewhere", "argument", "builtin", "dimension", "symbol", "two sizes"],
)
def test_a_dimension_that_is_not_free_is_refused(function: Callable[..., Any], dynamic: Dynamic, message: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match=message):
        extract("f", out=tmp_path, dynamic=dynamic)(function)(torch.randn(4, 8))


def test_a_size_that_is_no_symbol_is_refused() -> None:
    calls = [((2,), (4,)), ((4,), (8,))]
    with pytest.raises(ExtractError, match=r"axis 0 of argument 1 takes the sizes \[4, 8\], which are those of no symbol"):
        symbolic_shapes(calls, {(2, 4): "S0"})
