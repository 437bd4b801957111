"""What can't become a sample is refused in a sentence that says what and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Gated
from torch import Tensor

from passhost_extract import ExtractError, capture, extract, whole


def branches(x: Tensor) -> Tensor:
    return x.exp() if x.sum() > 0 else x


def branches_on_a_number(x: Tensor) -> Tensor:
    return x.exp() if x.sum().item() > 1 else x


def prints(x: Tensor) -> Tensor:
    print("here")
    return x.exp()


def conditional(x: Tensor) -> Tensor:
    result: Tensor = torch.cond(x.sum() > 0, lambda y: y.exp(), lambda y: y.log(), (x,))
    return result


def vectorised(x: Tensor) -> Tensor:
    result: Tensor = torch.vmap(lambda row: row.exp() * 2)(x)
    return result


def with_autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x


def with_numpy(x: Tensor) -> Tensor:
    return x * torch.from_numpy(np.arange(3.0))


def drops(x: Tensor) -> Tensor:
    return torch.nn.functional.dropout(x, 0.5)


def drops_attention(x: Tensor) -> Tensor:
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.1)


def adds_noise(x: Tensor) -> Tensor:
    return x + torch.randn_like(x)


def fills_with_noise(x: Tensor) -> Tensor:
    return torch.zeros(3, 3).normal_() + x


def counts(x: Tensor, count: Tensor) -> Any:
    return x.exp(), count.item()


def overwrites(x: Tensor) -> None:
    x.mul_(2)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (branches, r"branches can't be captured as one graph: Data-dependent branching.*in branches, .*: `return x.exp\(\) if"),
        (branches_on_a_number, r"the values of a tensor decide what runs .* by the expression .*1.* \(in branches_on_a_number"),
        (prints, r"prints can't be captured as one graph: .*builtin operator `print`.*Rewrite that line, or extract the module"),
        (conditional, "calls torch.ops.higher_order.cond, .*replace torch.cond"),
        (vectorised, r"calls torch._functorch.*write the torch.vmap or torch.func transform out"),
        (with_autocast, "calls torch.amp.autocast_mode._enter_autocast.*cast the tensors in the model"),
        (with_numpy, "calls torch._dynamo.*replace NumPy"),
        (drops, r"%dropout = torch.nn.functional.dropout\(l_x_, 0.5.*draws random numbers.*training=False"),
        (drops_attention, "scaled_dot_product_attention.*draws random numbers"),
        (adds_noise, r"%randn_like = torch.randn_like\(l_x_\) draws random numbers"),
        (fills_with_noise, r"\.normal_\(zeros\) draws random numbers"),
        (overwrites, "the model returns no tensor that it computes"),
        (lambda x: x, "calls no torch operation on a tensor input"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(ExtractError, match=message):
        whole(capture(function, torch.randn(3, 3)))


def test_a_number_is_no_result() -> None:
    with pytest.raises(ExtractError, match="the model returns %item, which is SymInt, and a result must be a tensor"):
        whole(capture(counts, torch.randn(3), torch.tensor(2)))


def test_attention_without_dropout_is_not_random() -> None:
    x = torch.randn(1, 2, 4, 8)
    assert not capture(lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x), x).random


def test_a_part_in_training_mode_is_named(gated: Gated) -> None:
    gated.norm.train()
    with pytest.raises(ExtractError, match=r"Gated \(its module 'norm'\) is in training mode"):
        capture(gated, torch.randn(2, 8))


def test_training_is_recorded_where_it_is_asked_for_and_draws_nothing(tmp_path: Path) -> None:
    norm = torch.nn.BatchNorm1d(8)
    extract("norm", out=tmp_path, training=True)(norm)(torch.randn(4, 8))
    assert "True, 0.1, 1e-05" in next((tmp_path / "norm").rglob("model.py")).read_text()
    with pytest.raises(ExtractError, match=r"torch.nn.functional.dropout\(.*draws random numbers"):
        extract("drops", out=tmp_path, training=True)(torch.nn.Sequential(norm, torch.nn.Dropout(0.5)))(torch.randn(4, 8))


def test_a_warning_of_the_model_ends_no_graph() -> None:
    norm = torch.nn.InstanceNorm1d(3).eval()
    with pytest.warns(UserWarning, match="does not match num_features"):
        assert whole(capture(norm, torch.randn(2, 4, 8))).ops == ("torch.nn.functional.instance_norm",)


def test_autocast_around_the_call_is_refused(gated: Gated) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(ExtractError, match="autocast is on.*leave the autocast region"):
        capture(gated, torch.randn(2, 8))


def test_sparse_and_complex_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="torch.compile does not support sparse Tensors"):
        capture(lambda x: torch.sparse.sum(x), torch.eye(2).to_sparse())
    with pytest.raises(ExtractError, match="complex: L_x_ is a torch.complex64 tensor, and the layout has no complex dtypes"):
        extract("complex", out=tmp_path)(lambda x: x.abs())(torch.ones(2, dtype=torch.complex64))


@pytest.mark.parametrize("model", [Gated, 3, "resnet"])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(ExtractError, match="expected a model or a function.*pass an instance"):
        capture(model, torch.randn(2, 8))


@pytest.mark.parametrize("name", ["", "a/b", "..", "-x", "a b"])
def test_a_name_that_is_no_folder_is_refused(name: str) -> None:
    with pytest.raises(ExtractError, match="becomes a folder"):
        extract(name)


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(ExtractError, match="layout is 'onnx'; it must be 'task' or 'graph'"):
        extract("x", layout="onnx")  # type: ignore[arg-type]


def test_one_folder_holds_one_dtype(gated: Gated, tmp_path: Path) -> None:
    wrapped = extract("gated", out=tmp_path, layout="graph", dtypes=["float32", "float16"])(gated)
    with pytest.raises(ExtractError, match="one graph folder holds one dtype, not float32, float16"):
        wrapped(torch.randn(2, 8))


def test_what_is_wrong_with_the_inputs_is_said_as_pytorch_says_it(gated: Gated) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        capture(gated)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        capture(gated, torch.randn(2, 7))
