from __future__ import annotations

import pytest
import torch
from conftest import Gated

from passhost_extract import ExtractError, canonical_text, capture, cut, graph_hash, model_text

GATE = (".sigmoid", "operator.mul", "operator.iadd", "torch.nn.functional.relu")


def test_in_place_operations_are_printed_as_the_model_writes_them(gated: Gated) -> None:
    text = model_text(cut(capture(gated, torch.randn(2, 8)), GATE).graph)
    assert text == """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0.sigmoid()
        tmp_1 = in_1 * tmp_0
        tmp_0 = None
        tmp_1 += in_1
        tmp_2 = tmp_1
        tmp_1 = None
        tmp_3 = torch.nn.functional.relu(tmp_2, inplace=True)
        tmp_2 = None
        return (tmp_3,)
"""


def test_the_hash_covers_forward_without_indentation_and_frees(gated: Gated) -> None:
    text = model_text(cut(capture(gated, torch.randn(2, 8)), GATE).graph)
    assert canonical_text(text) == """\
def forward(self, in_0, in_1):
tmp_0 = in_0.sigmoid()
tmp_1 = in_1 * tmp_0
tmp_1 += in_1
tmp_2 = tmp_1
tmp_3 = torch.nn.functional.relu(tmp_2, inplace=True)
return (tmp_3,)"""
    assert graph_hash(text) == "136924bed5f9449c6598c0ccd00d3fb3d9aaa73012a5e08715e20578d280f851"


def test_the_hash_depends_on_the_graph_and_not_on_the_run(gated: Gated) -> None:
    hashes = {graph_hash(model_text(cut(capture(gated, torch.randn(rows, 8)), GATE).graph)) for rows in (2, 2, 5)}
    assert len(hashes) == 1
    assert graph_hash(model_text(cut(capture(gated, torch.randn(2, 8)), GATE[:3]).graph)) not in hashes


def test_inputs_hold_what_entered_the_cut_before_it_was_overwritten() -> None:
    def overwrite(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        y.mul_(2)
        return y.exp()

    x = torch.zeros(3)
    subgraph = cut(capture(overwrite, x), [".mul_"])
    (argument,) = subgraph.inputs
    assert argument.value.tolist() == [1.0, 1.0, 1.0]
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_a_value_that_is_read_behind_the_cut_is_an_output() -> None:
    def residual(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = x + y
        return torch.nn.functional.layer_norm(total, (8,)).exp() + total

    subgraph = cut(capture(residual, torch.randn(2, 8), torch.randn(2, 8)), ["operator.add", "torch.nn.functional.layer_norm"])
    assert "return (tmp_0, tmp_1)" in model_text(subgraph.graph)


def test_occurrence_counts_matches() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).exp() * 3

    captured = capture(twice, torch.randn(4))
    assert "in_0 * 3" in model_text(cut(captured, ["operator.mul"], occurrence=1).graph)


def test_the_innermost_module_of_a_cut_is_named(gated: Gated) -> None:
    captured = capture(torch.nn.Sequential(gated).eval(), torch.randn(2, 8))
    assert cut(captured, ["torch._C._nn.linear", ".sigmoid"]).module == "0"
    assert cut(captured, ["torch.nn.functional.layer_norm"]).module == "0.norm"


@pytest.mark.parametrize(
    ("ops", "occurrence", "message"),
    [
        ([], 0, "the list of operations to cut is empty"),
        (["torch.tanh"], 0, "never called: torch.tanh; called: .sigmoid, operator.add"),
        (["operator.mul", ".sigmoid"], 0, "all of them are called, but not in this order"),
        ([".sigmoid"], 1, r"no occurrence 1 of the operations .sigmoid among the 7 of the graph \(1 match, counted from 0\)"),
    ],
)
def test_a_cut_that_matches_nothing_says_what_there_is(gated: Gated, ops: list[str], occurrence: int, message: str) -> None:
    with pytest.raises(ExtractError, match=message):
        cut(capture(gated, torch.randn(2, 8)), ops, occurrence)


def test_a_tuple_may_not_cross_the_cut() -> None:
    def halves(x: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2)
        return left + right

    captured = capture(halves, torch.randn(4))
    with pytest.raises(ExtractError, match="enters the cut as tuple"):
        cut(captured, ["operator.getitem", "operator.getitem", "operator.add"])
    with pytest.raises(ExtractError, match="leaves the cut as tuple"):
        cut(captured, [".chunk"])


def test_a_model_in_training_mode_is_refused(gated: Gated) -> None:
    with pytest.raises(ExtractError, match=r"Gated is in training mode.*call .eval\(\) first"):
        capture(gated.train(), torch.randn(2, 8))


def test_a_graph_break_is_refused() -> None:
    def breaks(x: torch.Tensor) -> torch.Tensor:
        return x.exp() if x.sum() > 0 else x

    with pytest.raises(ExtractError, match="breaks can't be captured as one graph"):
        capture(breaks, torch.randn(4))


def test_a_function_without_tensor_operations_is_refused() -> None:
    with pytest.raises(ExtractError, match="calls no torch operation"):
        capture(lambda x: x, torch.randn(4))
