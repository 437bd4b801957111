from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from conftest import Gated, load_meta, load_module

from passhost_extract import ExtractError, Provenance, Task, capture, cut, extract, graph_hash, whole
from passhost_extract.subgraph import run

GRAPH_FILES = [
    "graph_hash.txt",
    "graph_net.json",
    "input_meta.py",
    "input_tensor_constraints.py",
    "model.py",
    "weight_meta.py",
]


def graphs(task: Path) -> list[Path]:
    return [task / line for line in (task / "graph_list.txt").read_text().splitlines()]


def test_a_task_lists_each_dtype_and_shape(gated: Gated, tmp_path: Path) -> None:
    wrapped = extract("gated", out=tmp_path, dtypes=["float32", "float16"])(gated)
    for rows in (2, 5):
        x = torch.randn(rows, 8)
        torch.testing.assert_close(wrapped(x), gated(x))
    assert (tmp_path / "gated/graph_list.txt").read_text().splitlines() == [
        "graphs/subgraphs/float32/s0-2/gated",
        "graphs/subgraphs/float32/s0-5/gated",
        "graphs/subgraphs/float16/s0-2/gated",
        "graphs/subgraphs/float16/s0-5/gated",
    ]
    for folder in graphs(tmp_path / "gated"):
        assert sorted(path.name for path in folder.iterdir()) == GRAPH_FILES
        assert (folder / "graph_hash.txt").read_text() == graph_hash((folder / "model.py").read_text())
        assert {meta["dtype"] for meta in load_meta(folder / "weight_meta.py")} == {f"torch.{folder.parts[-3]}"}


def test_a_written_model_computes_what_the_captured_one_did(gated: Gated, tmp_path: Path) -> None:
    x = torch.randn(4, 8)
    task = Task("whole", Provenance("gated"))
    task.add(gated, x)
    (folder,) = graphs(task.write(tmp_path))
    inputs = [argument.value for argument in whole(capture(gated, x)).inputs]
    assert [meta["shape"] for meta in load_meta(folder / "weight_meta.py")] == [list(value.shape) for value in inputs]
    with torch.no_grad():
        (result,) = load_module(folder / "model.py")(*inputs)
        torch.testing.assert_close(result, gated(x), rtol=0, atol=0)


def test_a_written_cut_computes_what_the_subgraph_does(gated: Gated, tmp_path: Path) -> None:
    x = torch.randn(4, 8)
    ops = [".sigmoid", "operator.mul", "operator.iadd", "torch.nn.functional.relu"]
    task = Task("gate", Provenance("gated"), ops=ops)
    task.add(gated, x)
    (folder,) = graphs(task.write(tmp_path))
    subgraph = cut(capture(gated, x), ops)
    inputs = [argument.value for argument in subgraph.inputs]
    torch.testing.assert_close(load_module(folder / "model.py")(*inputs), run(subgraph.graph, inputs), rtol=0, atol=0)
    assert json.loads((folder / "graph_net.json").read_text())["op_sequence"] == ops


def test_writing_twice_gives_the_same_bytes(gated: Gated, tmp_path: Path) -> None:
    contents = []
    for out in ("first", "second"):
        torch.manual_seed(1)
        task = Task("gated", Provenance("gated"), dtypes=["float32", "bfloat16"])
        task.add(gated, torch.randn(3, 8))
        root = task.write(tmp_path / out)
        contents.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()})
    assert contents[0] == contents[1]


def test_sizes_that_vary_together_share_a_symbol(tmp_path: Path) -> None:
    def attend(scores: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return (scores + bias).softmax(-1)

    task = Task("attend", Provenance("attend"))
    for batch, length in ((1, 6), (2, 9)):
        task.add(attend, torch.randn(batch, 4, length, length), torch.randn(4, length, length))
    assert (graphs(task.write(tmp_path))[1] / "input_tensor_constraints.py").read_text() == """\
from sympy import Symbol

S0 = Symbol("S0")
S1 = Symbol("S1")

dynamic_dim_constraint_symbols = [S0, S1]

dynamic_dim_constraint_symbol2example_value = {S0: 2, S1: 9}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([S0, 4, S1, S1], "L_scores_"),
    ([4, S1, S1], "L_bias_"),
]
"""


def test_a_graph_with_sizes_in_its_text_gets_no_symbols(tmp_path: Path) -> None:
    def flatten(x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0] * 8).exp()

    task = Task("flatten", Provenance("flatten"))
    for rows in (2, 3):
        task.add(flatten, torch.randn(rows, 8))
    folders = graphs(task.write(tmp_path))
    assert [folder.parts[-2] for folder in folders] == ["shape-0", "shape-1"]
    assert '([3, 8], "L_x_")' in (folders[1] / "input_tensor_constraints.py").read_text()


def test_statistics_fit_the_kind_of_tensor(tmp_path: Path) -> None:
    def mixed(x: torch.Tensor, mask: torch.Tensor, index: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return ((x + mask) * keep)[index]

    smallest = torch.finfo(torch.float32).min
    x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.0, smallest, 0.0])
    task = Task("mixed", Provenance("mixed"), dtypes=["float32", "float16"])
    task.add(mixed, x, mask, torch.tensor([2, 0]), torch.tensor([True, False, True]))
    wide, narrow = (load_meta(folder / "weight_meta.py") for folder in graphs(task.write(tmp_path)))

    def fields(meta: dict[str, object]) -> dict[str, object]:
        return {key: meta.get(key, "absent") for key in ("dtype", "mean", "std", "min_val", "max_val", "data")}

    names = [meta["original_name"] for meta in wide]
    assert names == ["L_x_", "L_mask_", "L_keep_", "L_index_"]
    spread = float(f"{math.sqrt(14 / 9):.9g}")
    absent = {"min_val": "absent", "max_val": "absent", "data": None}
    assert fields(wide[0]) == {"dtype": "torch.float32", "mean": 2.33333333, "std": spread, **absent}
    assert fields(wide[1]) | {"mean": 0, "std": 0} == {
        "dtype": "torch.float32", "mean": 0, "std": 0, "min_val": smallest, "max_val": 0.0, "data": None,
    }  # fmt: skip
    assert fields(wide[2]) == {"dtype": "torch.bool", "mean": None, "std": None, **absent}
    assert fields(wide[3]) == {"dtype": "torch.int64", "mean": None, "std": None, "min_val": 0, "max_val": 2, "data": [2, 0]}
    assert narrow[1]["min_val"] == torch.finfo(torch.float16).min
    assert narrow[3]["dtype"] == "torch.int64"


class Normalised(torch.nn.Module):
    """Computes in float32 and returns the type it was given, as root-mean-square norms do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        return self.weight * (wide * wide.pow(2).mean(-1, keepdim=True).rsqrt()).to(x.dtype)


def test_an_element_type_in_the_graph_is_that_of_the_model(tmp_path: Path) -> None:
    task = Task("norm", Provenance("norm"), dtypes=["float32", "float16", "bfloat16"])
    model = Normalised().eval()
    for rows in (2, 5):
        task.add(model, torch.randn(rows, 8))
    folders = graphs(task.write(tmp_path))
    assert model.weight.dtype == torch.float32
    for folder in folders:
        dtype = folder.parts[-3]
        text = (folder / "model.py").read_text()
        assert "wide = L_x_.to(torch.float32)" in text
        assert f"mul.to(torch.{dtype})" in text
        inputs = [torch.ones(meta["shape"], dtype=getattr(torch, dtype)) for meta in load_meta(folder / "weight_meta.py")]
        assert load_module(folder / "model.py")(*inputs)[0].dtype == inputs[0].dtype
    # Shapes are still symbols: the texts of one element type are equal.
    assert [folder.parts[-2] for folder in folders] == ["s0-2", "s0-5"] * 3
    assert len({(folder / "graph_hash.txt").read_text() for folder in folders}) == 3


def test_a_model_that_computes_otherwise_in_another_dtype_is_refused() -> None:
    def widened(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float32).exp() if x.dtype == torch.float32 else x.to(torch.float32).exp().log()

    task = Task("widened", Provenance("widened"), dtypes=["float32", "float16"])
    with pytest.raises(
        ExtractError, match=r"widened: in torch.float16 the graph has other operations than in torch.float32, first .log in place of none"
    ):
        task.add(widened, torch.randn(3))


def test_a_task_without_variants_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="the task empty has no variant"):
        Task("empty", Provenance("empty")).write(tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "float12"])
def test_a_dtype_that_is_no_float_is_refused(dtype: str) -> None:
    with pytest.raises(ExtractError, match=f"'{dtype}' isn't a float dtype"):
        Task("task", Provenance("task"), dtypes=[dtype])


def test_a_dtype_in_which_the_graph_fails_is_refused() -> None:
    task = Task("solve", Provenance("solve"), dtypes=["float32", "float16"])
    with pytest.raises(ExtractError, match="solve: the graph doesn't run in float16; leave that dtype out: linalg.inv"):
        task.add(torch.linalg.inv, torch.eye(3))
