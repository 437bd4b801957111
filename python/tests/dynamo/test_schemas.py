"""The ops of the loaded PyTorch against those that graphs have."""

import sys
import time

import pytest

torch = pytest.importorskip("torch")

from passhost.dynamo.library import Library  # noqa: E402
from passhost.dynamo.schemas import loaded_ops  # noqa: E402

RELU = "aten::relu(Tensor self) -> Tensor"

#: Another schema of an op than PyTorch has.
OTHERS = [
    "aten::on_no_list(Tensor self) -> Tensor",
    "aten::relu.on_no_list(Tensor self) -> Tensor",
    "aten::neg(Tensor input) -> Tensor",
    "aten::neg(Tensor self, Tensor other) -> Tensor",
    "aten::neg(Tensor? self) -> Tensor",
    "aten::neg(Tensor self) -> (Tensor, Tensor)",
    "aten::neg(Tensor(a) self) -> Tensor(a)",
    "aten::t(Tensor self) -> Tensor",
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor",
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha) -> Tensor",
    "aten::add.Tensor(Tensor self, Tensor other, Scalar alpha=1) -> Tensor",
    "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[2] stride, int[2] padding, "
    "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
]


@pytest.mark.parametrize("schema", OTHERS)
def test_an_op_with_another_schema_stays_with_pytorch_and_is_logged(schema, caplog):
    caplog.set_level("INFO", "passhost")
    assert loaded_ops([schema, RELU]) == {("relu", "")}
    name = schema.partition("(")[0].removeprefix("aten::")
    assert caplog.messages == [f"1 ops of this PyTorch differ and stay its own: {name}"]


@pytest.mark.parametrize(
    "schema",
    [
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor out",
        "aten::t(Tensor(b) self) -> Tensor(b)",
        "aten::squeeze.dim(Tensor(a) self, SymInt dim) -> Tensor(a)",
        "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-5, "
        "bool cudnn_enabled=True) -> Tensor",
    ],
)
def test_what_is_only_written_otherwise_is_the_same(schema, caplog):
    caplog.set_level("INFO", "passhost")
    assert len(loaded_ops([schema])) == 1 and not caplog.messages


def test_this_pytorch_has_the_ops_of_graphs_and_that_is_soon_known():
    engine = pytest.importorskip("passhost._engine", reason="the extension passhost._engine is not built")
    schemas = engine.ops(training=True)
    begin = time.perf_counter()
    found = loaded_ops(schemas)
    assert time.perf_counter() - begin < 0.3
    assert len(found) == len(schemas) > 500


def test_an_op_that_differs_is_no_part_of_a_piece(dynamo, plugins, monkeypatch, caplog):
    backend = sys.modules["passhost.dynamo.backend"]
    extension, ops = backend.engine()
    monkeypatch.setattr(backend, "engine", lambda: (extension, ops - {("exp", "")}))
    compiled = torch.compile(
        lambda x: ((x + 1).sigmoid().exp() * 2).tanh(),
        backend=dynamo.backend,
        options={"pass": str(plugins / "autofuse.wasm"), "check": False},
    )
    x = torch.randn(5, 7)
    torch.testing.assert_close(compiled(x), ((x + 1).sigmoid().exp() * 2).tanh())
    assert any("2 of 2 pieces rewritten" in line for line in caplog.messages)


def test_the_types_of_an_op_that_differs_are_not_told():
    library = Library(torch.device("cpu"), frozenset({("relu", "")}))
    operand = ("tensor", ("f32", (2,), (1,)))
    assert library.types("relu", "", [operand]) == [("f32", (2,), (1,))]
    with pytest.raises(TypeError, match="aten::exp: this PyTorch has it with another schema"):
        library.types("exp", "", [operand])
