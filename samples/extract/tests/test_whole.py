"""A whole model: the names in its text, what becomes an argument, and what is returned."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from conftest import Gated, load_meta, load_module
from torch import Tensor, fx

from passhost_extract import Capture, ExtractError, Provenance, Task, capture, extract, model_text, whole
from passhost_extract.subgraph import run


def arguments(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> list[str]:
    return [item.name for item in whole(capture(model_or_fn, *args, **kwargs)).inputs]


def test_arguments_say_where_the_model_keeps_them(gated: Gated) -> None:
    assert model_text(whole(capture(gated, torch.randn(2, 8))).graph) == """\
import torch

class GraphModule(torch.nn.Module):

    def forward(self, L_x_, L_self_modules_gate_parameters_weight_, L_self_modules_gate_parameters_bias_, \
L_self_modules_norm_parameters_weight_, L_self_modules_norm_parameters_bias_):
        linear = torch._C._nn.linear(L_x_, L_self_modules_gate_parameters_weight_, L_self_modules_gate_parameters_bias_)
        sigmoid = linear.sigmoid()
        linear = None
        y = L_x_ * sigmoid
        sigmoid = None
        y += L_x_
        y_1 = y
        y = None
        y_2 = torch.nn.functional.relu(y_1, inplace=True)
        y_1 = None
        layer_norm = torch.nn.functional.layer_norm(y_2, (8,), L_self_modules_norm_parameters_weight_, \
L_self_modules_norm_parameters_bias_, 1e-05)
        add = y_2 + layer_norm
        y_2 = layer_norm = None
        return (add,)
"""


@pytest.mark.parametrize(
    ("model", "args", "kwargs", "names"),
    [
        (torch.nn.Sequential(torch.nn.Linear(2, 2)), 1, {}, ["L_input_", "L_self_modules_0_parameters_weight_", "L_self_modules_0_parameters_bias_"]),
        (torch.nn.Linear(2, 2, bias=False), 0, {"input": True}, ["L_input_", "L_self_parameters_weight_"]),
        (torch.nn.functional.gelu, 1, {}, ["L_args_0_"]),
        (torch.nn.functional.softplus, 1, {}, ["L_args_0_"]),
        (torch.nn.functional.relu6, 1, {}, ["L_input_"]),
    ],
    ids=["sequential", "keyword", "built in", "built in too", "function"],
)  # fmt: skip
def test_modules_and_functions_of_torch_name_arguments_as_they_do(
    model: Callable[..., Any], args: int, kwargs: dict[str, Any], names: list[str]
) -> None:
    if isinstance(model, torch.nn.Module):
        model = model.eval()
    assert arguments(model, *[torch.randn(3, 2)] * args, **{key: torch.randn(3, 2) for key in kwargs}) == names


class Tied(torch.nn.Module):
    """A language model whose head reads the weight of its embedding, as many do."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.unread = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, tokens: Tensor, mask: Tensor | None = None, *, options: dict[str, Any] | None = None) -> dict[str, Any]:
        hidden = self.embedding(tokens) * self.scale
        if mask is not None:
            hidden = hidden * mask[..., None]
        if options is not None:
            hidden = hidden + options["shifts"][0]
        return {"logits": self.head(hidden), "hidden": (hidden, [hidden.sum()])}


def test_a_tied_weight_is_one_argument_and_an_unread_one_none() -> None:
    assert arguments(Tied().eval(), torch.tensor([[1, 2, 3]])) == [
        "L_tokens_",
        "L_self_modules_embedding_parameters_weight_",
        "L_self_buffers_scale_",
    ]


def test_keyword_arguments_and_nested_ones_are_named() -> None:
    tokens, mask, shift = torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, False]]), torch.ones(4)
    assert arguments(Tied().eval(), tokens=tokens, mask=mask, options={"shifts": [shift]}) == [
        "L_tokens_",
        "L_self_modules_embedding_parameters_weight_",
        "L_self_buffers_scale_",
        "L_mask_",
        "L_options_shifts_0_",
    ]


class Pair(NamedTuple):
    left: Tensor
    right: Tensor


@pytest.mark.parametrize(
    ("function", "results"),
    [
        (lambda x: {"a": x + 1, "b": {"c": x * 2}}, "(add, mul)"),
        (lambda x: (x + 1, [x * 2, (x - 3,)]), "(add, mul, sub)"),
        (lambda x: OrderedDict(a=x + 1, b=x * 2), "(value, value_1)"),
        (lambda x: Pair(x + 1, x * 2), "(add, mul)"),
        (lambda x: (x * 2, x + 1), "(mul, add)"),
        (lambda x: x + 1, "(add,)"),
    ],
    ids=["dict", "nested", "ordered", "named", "order", "single"],
)
def test_results_are_the_tensors_in_order_however_they_nest(function: Callable[..., Any], results: str) -> None:
    assert f"return {results}\n" in model_text(whole(capture(function, torch.randn(3))).graph)


def test_a_tensor_that_the_code_holds_is_an_argument_with_its_data(tmp_path: Path) -> None:
    table = torch.tensor([3, 1, 2])

    def look_up(x: Tensor) -> Tensor:
        return x[table]

    extract("look-up", out=tmp_path, layout="graph")(look_up)(torch.randn(4))
    _, constant = load_meta(tmp_path / "look-up/weight_meta.py")
    assert constant["data"] == [3, 1, 2]


def test_a_constant_that_the_tracer_stored_in_its_module_is_an_argument() -> None:
    graph = fx.Graph()
    graph.output((graph.call_function(torch.add, (graph.placeholder("L_x_"), graph.get_attr("tables.first"))),))
    module = fx.GraphModule({"tables.first": torch.tensor([1, 2])}, graph)
    subgraph = whole(Capture(module, (torch.zeros(2),), None))
    assert [item.name for item in subgraph.inputs] == ["L_x_", "tables_first"]
    assert "self" not in model_text(subgraph.graph).partition("return")[2]
    assert run(subgraph.graph, [item.value for item in subgraph.inputs])[0].tolist() == [1.0, 2.0]


def test_a_function_that_overwrites_its_argument_leaves_a_sample_of_it_as_it_was(tmp_path: Path) -> None:
    def scale(x: Tensor) -> Tensor:
        x.mul_(2)
        x[0] = 7.0
        return x + 1

    x = torch.tensor([1.0, 2.0, 3.0])
    extract("scale", out=tmp_path, layout="graph")(scale)(x)
    (meta,) = load_meta(tmp_path / "scale/weight_meta.py")
    assert meta["mean"] == 2.0
    (result,) = load_module(tmp_path / "scale/model.py")(torch.tensor([1.0, 2.0, 3.0]))
    assert result.tolist() == [8.0, 5.0, 7.0]


def test_a_number_read_out_of_a_tensor_stays_in_the_graph() -> None:
    def first(x: Tensor, count: Tensor) -> Tensor:
        return x[: int(count.item())] * 2

    text = model_text(whole(capture(first, torch.randn(4), torch.tensor(3))).graph)
    assert "item = L_count_.item()" in text
    assert "L_x_[slice(None, item, None)]" in text


def test_the_checks_that_the_tracer_adds_for_it_are_left_out() -> None:
    text = model_text(whole(capture(lambda x: x[x > 0].exp(), torch.randn(4))).graph)
    assert "assert" not in text and "sym_size" not in text


def test_bookkeeping_and_dead_random_numbers_are_left_out() -> None:
    def careful(x: Tensor) -> Tensor:
        torch.rand([])
        with torch.autocast("cpu", enabled=False), torch.enable_grad():
            torch._check(x.shape[0] > 1)  # type: ignore[no-untyped-call]
            return x @ x

    assert whole(capture(careful, torch.randn(2, 2))).ops == ("operator.matmul",)


def test_operators_are_spelled_as_operators() -> None:
    def spelled(x: Tensor) -> Tensor:
        return abs(x).__add__(1) * x.__eq__(x).__and__(x.__ne__(2))

    assert whole(capture(spelled, torch.zeros(2))).ops == (
        "torch.abs",
        "operator.add",
        "operator.eq",
        "operator.ne",
        "operator.and_",
        "operator.mul",
    )


def test_a_recurrent_network_is_one_operation() -> None:
    subgraph = whole(capture(torch.nn.LSTM(4, 4, batch_first=True).eval(), torch.randn(2, 3, 4)))
    assert "torch.lstm" in subgraph.ops
    assert len(subgraph.inputs) == 5


class Prepared(torch.nn.Module):
    """Sets itself up in its first call, in a way that can't be traced, and keeps a table of its own from then on."""

    def __init__(self) -> None:
        super().__init__()
        self.table: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.table is None:
            print("first call")
            self.table = torch.arange(x.shape[-1]) * 2.0
        return x + self.table


def test_the_graph_is_that_of_a_model_that_was_called_before() -> None:
    subgraph = whole(capture(Prepared().eval(), torch.zeros(3)))
    assert subgraph.ops == ("operator.add",)
    assert [item.value.tolist() for item in subgraph.inputs] == [[0.0, 0.0, 0.0], [0.0, 2.0, 4.0]]


def test_one_folder_holds_the_graph_and_symbols_for_what_varies(gated: Gated, tmp_path: Path) -> None:
    wrapped = extract("gated", out=tmp_path, layout="graph")(gated)
    for rows in (2, 5):
        wrapped(torch.randn(rows, 8))
    assert sorted(path.name for path in (tmp_path / "gated").iterdir()) == [
        "graph_hash.txt",
        "graph_net.json",
        "input_meta.py",
        "input_tensor_constraints.py",
        "model.py",
        "weight_meta.py",
    ]
    constraints = (tmp_path / "gated/input_tensor_constraints.py").read_text()
    assert "symbol2example_value = {S0: 5}" in constraints
    assert '([S0, 8], "L_x_")' in constraints
    assert load_meta(tmp_path / "gated/weight_meta.py")[0]["shape"] == [5, 8]


def test_shapes_of_a_whole_model_with_sizes_in_its_text_are_graphs_of_their_own(tmp_path: Path) -> None:
    model = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    task = Task("attention", Provenance("attention"))
    for rows in (2, 3):
        x = torch.randn(rows, 5, 8, requires_grad=True)
        task.add(model.requires_grad_(True), x, x.relu(), x)
    # The layer hands its sizes to one call, so that nothing of them is in the text; a view of our own has them there.
    assert "s0-2" in (task.write(tmp_path) / "graph_list.txt").read_text()

    flat = Task("flat", Provenance("flat"))
    for rows in (2, 3):
        flat.add(lambda x: x.view(x.shape[0] * 8), torch.randn(rows, 8))
    assert "shape-1" in (flat.write(tmp_path) / "graph_list.txt").read_text()
    with pytest.raises(ExtractError, match="flat: the graphs of 2 calls differ.*write a task instead"):
        flat.write_graph(tmp_path)


def test_without_dtypes_a_model_stays_in_its_own(gated: Gated, tmp_path: Path) -> None:
    half = copy.deepcopy(gated).to(torch.bfloat16)
    half.norm.float()
    wrapped = extract("half", out=tmp_path)(lambda x: half.norm(half.gate(x).sigmoid().float()))
    wrapped(torch.randn(2, 8, dtype=torch.bfloat16))
    (folder,) = (tmp_path / "half" / line for line in (tmp_path / "half/graph_list.txt").read_text().split())
    assert folder.parts[-3] == "bfloat16"
    dtypes = [meta["dtype"] for meta in load_meta(folder / "weight_meta.py")]
    assert dtypes == ["torch.bfloat16"] * 3 + ["torch.float32"] * 2
    with pytest.raises(ExtractError, match="half: this call is in float32, an earlier one in bfloat16; name the dtypes"):
        half.float()
        wrapped(torch.randn(3, 8))


def test_numbers_that_only_a_wide_dtype_has_follow_the_dtype(tmp_path: Path) -> None:
    def masked(x: Tensor, keep: Tensor) -> Tensor:
        return x.masked_fill(~keep, torch.finfo(x.dtype).min).softmax(-1)

    wrapped = extract("masked", out=tmp_path, dtypes=["float32", "float16"])(masked)
    wrapped(torch.randn(2, 4), torch.tensor([[True, False, True, True]]))
    wide, narrow = (
        (tmp_path / "masked" / line / "model.py").read_text() for line in (tmp_path / "masked/graph_list.txt").read_text().split()
    )
    assert "-3.4028234663852886e+38" in wide
    assert "-65504.0" in narrow


def test_extract_is_a_decorator_that_keeps_the_function(tmp_path: Path) -> None:
    @extract("softplus", out=tmp_path)
    def softplus(x: Tensor) -> Tensor:
        """log(1 + exp(x))"""
        return x.exp().log1p()

    assert softplus.__name__ == "softplus" and softplus.__doc__ == "log(1 + exp(x))"
    torch.testing.assert_close(softplus(torch.zeros(2)), torch.full((2,), 2.0).log())
    assert (tmp_path / "softplus/graph_list.txt").exists()
