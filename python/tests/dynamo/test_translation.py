"""Graphs of ATen ops as texts."""

import pathlib
import re

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from passhost.dynamo.graph import graph_device, graph_text  # noqa: E402
from passhost.dynamo.lower import Lowering  # noqa: E402
from passhost.dynamo.split import split  # noqa: E402
from passhost.dynamo.values import is_same_type, results  # noqa: E402

aten = torch.ops.aten
SCHEMAS = pathlib.Path(__file__).parents[3] / "host/core/ir/ops/schemas.txt"
OPS = frozenset(
    (name, overload) for name, overload in re.findall(r"^\w+ aten::(\w+)\.?(\w*)\(", SCHEMAS.read_text(), re.MULTILINE)
)


def trace(function, *inputs):
    """The graph of a function on fake tensors like the inputs."""
    mode = FakeTensorMode()
    traced = make_fx(function)(*(mode.from_tensor(value) for value in inputs))
    traced.graph.eliminate_dead_code()
    return traced


def text(function, *inputs):
    """The text of a whole function."""
    traced = trace(function, *inputs)
    return graph_text(traced.graph, Lowering(OPS, graph_device(traced.graph)))


def rows(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


#: A function, its inputs, and the line of the text that matters.
LINES = {
    "pointwise": (
        lambda x: aten.add.Tensor(x, x, alpha=2),
        [rows(2, 3)],
        "aten::add.Tensor(self=%v0, other=%v0, alpha=2)",
    ),
    "floats": (lambda x: aten.clamp(x, 1e-9), [rows(2)], "aten::clamp(self=%v0, min=1e-09)"),
    "infinite": (lambda x: aten.masked_fill.Scalar(x, x > 0, float("-inf")), [rows(2)], "value=-inf)"),
    "view": (
        lambda x: aten.permute(x, [1, 0]),
        [rows(2, 3)],
        "%v1: f32[3,2]{1,3} = aten::permute(self=%v0, dims=[1, 0])",
    ),
    "expanded": (
        lambda x: aten.expand(x, [4, 3]),
        [rows(1, 3)],
        "%v1: f32[4,3]{0,1} = aten::expand(self=%v0, size=[4, 3])",
    ),
    "strides of inputs": (lambda x: aten.relu(x), [rows(2, 3).t()], "graph(%v0: f32[3,2]{1,3}) {"),
    "dtype": (
        lambda x: aten._to_copy(x, dtype=torch.bfloat16),
        [rows(2)],
        "%v1: bf16[2] = aten::_to_copy(self=%v0, dtype=bf16)",
    ),
    "memory format": (
        lambda x: aten.clone(x, memory_format=torch.channels_last),
        [rows(1, 2, 3, 3)],
        "%v1: f32[1,2,3,3]{18,1,6,2} = aten::clone(self=%v0, memory_format=channels_last)",
    ),
    "device": (
        lambda x: aten.full([2], 1.0, dtype=torch.float32, device=torch.device("cpu"), layout=torch.strided),
        [rows(2)],
        "aten::full(size=[2], fill_value=1.0, dtype=f32, layout=strided, device=device)",
    ),
    "list of tensors": (lambda x: aten.cat([x, x], 1), [rows(2, 3)], "aten::cat(tensors=[%v0, %v0], dim=1)"),
    "optional tensors": (
        lambda x, i: aten.index.Tensor(x, [None, i]),
        [rows(2, 3), rows(4, dtype=torch.int64)],
        "aten::index.Tensor(self=%v0, indices=[none, %v1])",
    ),
    "optional argument": (
        lambda x: aten.native_layer_norm(x, [3], None, None, 1e-5)[0],
        [rows(2, 3)],
        "%v1: f32[2,3], %v2: f32[2,1], %v3: f32[2,1] = "
        "aten::native_layer_norm(input=%v0, normalized_shape=[3], weight=none, bias=none, eps=1e-05)",
    ),
    "several results": (
        lambda x: aten.split.Tensor(x, 2, 1)[1],
        [rows(2, 3)],
        "%v1: f32[2,2]{3,1}, %v2: f32[2,1]{3,1} = aten::split.Tensor(self=%v0, split_size=2, dim=1)",
    ),
    "number for a tensor": (lambda x: aten.mul.Tensor(x, 2.0), [rows(2)], "aten::mul.Scalar(self=%v0, other=2.0)"),
    "number before a tensor": (lambda x: aten.sub.Tensor(2.0, x), [rows(2)], "aten::rsub.Scalar(self=%v0, other=2.0)"),
    "attention of a training step": (
        lambda q: aten._scaled_dot_product_flash_attention_for_cpu(q, q, q, is_causal=True),
        [rows(1, 2, 4, 8)],
        "%v1: f32[1,2,4,8], %v2: f32[1,2,4]{8,1,2} = aten::_scaled_dot_product_flash_attention_for_cpu(query=%v0, ",
    ),
    "result that is left out": (
        lambda x, w: aten.convolution_backward(
            x, x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False]
        )[:2],
        [rows(1, 4, 3, 3), rows(4, 4, 1, 1)],
        "%v2: f32[1,4,3,3], %v3: f32[4,4,1,1], %v4: f32[0] = aten::convolution_backward(",
    ),
    "string": (lambda x: aten.gelu(x, approximate="tanh"), [rows(2)], 'aten::gelu(self=%v0, approximate="tanh")'),
    "scalar tensor": (lambda x: aten.sum(x), [rows(2, dtype=torch.bool)], "%v1: i64[] = aten::sum(self=%v0)"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_call_is_written_as_graphs_have_it(name):
    function, inputs, line = LINES[name]
    assert line in text(function, *inputs)


def test_no_name_of_the_user_is_in_a_text():
    def secret_function(secret_input):
        return aten.relu(secret_input)

    traced = trace(secret_function, rows(2))
    for node in traced.graph.nodes:
        node.name = f"secret_{node.name}"
    found = graph_text(traced.graph, Lowering(OPS, torch.device("cpu")))
    assert found == "graph(%v0: f32[2]) {\n  %v1: f32[2] = aten::relu(self=%v0)\n  return (%v1)\n}\n"


#: What is on no list by itself: the op, and those that are written instead.
LOWERED = {
    "batch norm": (
        lambda x, w: aten._native_batch_norm_legit_no_training(x, w, w, w, w, 0.1, 1e-5)[0],
        [rows(1, 4, 3, 3), rows(4)],
        {"batch_norm"},
    ),
    "attention": (
        lambda q: aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)[0],
        [rows(1, 2, 4, 8)],
        {"scaled_dot_product_attention"},
    ),
    "linear": (
        lambda x, w, b: aten.view(aten.addmm(b, aten.view(x, [6, 4]), aten.t(w)), [2, 3, 5]),
        [rows(2, 3, 4), rows(5, 4), rows(5)],
        {"linear"},
    ),
    "linear without bias": (lambda x, w: aten.mm(x, aten.t(w)), [rows(6, 4), rows(5, 4)], {"linear"}),
    "linear whose parts are taken": (
        lambda x, w: (aten._unsafe_view(aten.mm(aten.view(x, [6, 4]), aten.t(w)), [2, 3, 5]), aten.t(w)),
        [rows(2, 3, 4), rows(5, 4)],
        {"linear", "t"},
    ),
    "product that is no linear layer": (
        lambda x, w: aten.relu(aten.mm(aten.view(x, [6, 4]), w)),
        [rows(2, 3, 4), rows(4, 5)],
        {"view", "mm", "relu"},
    ),
    "convolution": (
        lambda x, w: aten.convolution(x, w, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 2),
        [rows(1, 4, 5, 5), rows(6, 2, 3, 3)],
        {"conv2d"},
    ),
    "transposed convolution": (
        lambda x, w: aten.convolution(x, w, None, [2], [1], [1], True, [1], 1),
        [rows(1, 4, 5), rows(4, 6, 3)],
        {"conv_transpose1d"},
    ),
    "unsafe write": (
        lambda x, i: aten._unsafe_index_put(x, [i], x, True),
        [rows(3), rows(3, dtype=torch.int64)],
        {"index_put"},
    ),
    "backward": (lambda x: aten.threshold_backward(x, x, 0), [rows(3)], {"le.Scalar", "scalar_tensor", "where.self"}),
}


@pytest.mark.parametrize("name", LOWERED)
def test_ops_of_autograd_are_written_as_listed_ones(name):
    function, inputs, ops = LOWERED[name]
    assert set(re.findall(r"aten::([\w.]+)\(", text(function, *inputs))) == ops


def test_the_gradient_of_a_loss_is_written_with_a_scatter_that_checks_its_classes():
    def loss(x, classes):
        return aten.nll_loss_backward(x[0, 0], x, classes, None, 1, -100, x[0, 0])

    found = text(loss, rows(2, 3), rows(2, dtype=torch.int64))
    assert "aten::scatter.value(" in found and "nll_loss" not in found


def test_new_statistics_of_a_batch_norm_have_the_types_of_the_old_ones():
    def norm(x, w):
        return aten._native_batch_norm_legit_functional(x, w, w, w, w, True, 0.1, 1e-5)[3:]

    found = text(norm, rows(2, 4, dtype=torch.bfloat16), rows(4, dtype=torch.bfloat16))
    returned = found.split("return (")[1].split(")")[0].split(", ")
    assert len(returned) == 2 and all(f"{value}: bf16[4] = " in found for value in returned), found


#: What stays PyTorch's.
UNSUPPORTED = {
    "random": (lambda x: aten.native_dropout(x, 0.5, True)[0], [rows(3)]),
    "in place": (lambda x: aten.relu_(x), [rows(3)]),
    "depends on data": (lambda x: aten.nonzero(x), [rows(3)]),
    "statistics that are written": (
        lambda x, w: aten.batch_norm(x, w, w, w, w, True, 0.1, 1e-5, False),
        [rows(2, 3), rows(3)],
    ),
    "place that a gradient trusts": (lambda x: aten.max_pool2d_with_indices(x, [2, 2])[1], [rows(1, 4, 4)]),
    "address": (lambda x: aten.as_strided(x, [2], [1], 0), [rows(3)]),
    "element type": (lambda x: aten.mul.Tensor(x, x), [rows(3, dtype=torch.uint16)]),
    "complex number": (lambda x: aten.mul.Scalar(x, 1j), [rows(3, dtype=torch.complex64)]),
    "attention that drops": (
        lambda q: aten._scaled_dot_product_flash_attention_for_cpu(q, q, q, 0.5)[0],
        [rows(1, 2, 4, 8)],
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_graphs_cannot_say_stays_with_pytorch(name):
    function, inputs = UNSUPPORTED[name]
    if name == "statistics that are written":
        graph = torch.fx.Graph()
        operands = [graph.placeholder(f"x{i}") for i in range(2)]
        for operand, value in zip(operands, inputs, strict=True):
            operand.meta["val"] = value
        node = graph.call_function(aten.batch_norm.default, (operands[0], *[operands[1]] * 4, True, 0.1, 1e-5, False))
        node.meta["val"] = inputs[0]
    else:
        with FakeTensorMode(shape_env=torch.fx.experimental.symbolic_shapes.ShapeEnv()) as mode:
            fakes = [torch.empty_like(mode.from_tensor(value)) for value in inputs]
            graph = make_fx(function)(*fakes).graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    assert not Lowering(OPS, torch.device("cpu")).supports(nodes[0])


def test_a_graph_is_split_around_what_stays_and_computes_the_same():
    def function(x):
        y = aten.mul.Tensor(aten.relu(x), 2.0)
        y = aten.logcumsumexp(y, 0)
        return aten.exp(aten.neg(y)), aten.view(x, [-1])

    x = torch.randn(3, 4)
    traced = trace(function, x)
    pieces = split(traced, Lowering(OPS, torch.device("cpu")))
    assert len(pieces) == 2
    for found, expected in zip(traced(x), function(x), strict=True):
        assert torch.equal(found, expected)


def test_views_alone_are_no_pieces_and_single_ops_are_of_small_graphs():
    def pieces(function):
        return len(split(trace(function, rows(2, 3)), Lowering(OPS, torch.device("cpu"))))

    assert pieces(lambda x: aten.permute(aten.unsqueeze(x, 0), [0, 2, 1])) == 0
    assert pieces(lambda x: aten.relu(x)) == 1

    def spread(count):
        def function(x):
            for _ in range(count):
                # A pass is given no op that draws random numbers.
                x = aten.bernoulli(aten.relu(x))
            return x

        return function

    assert (pieces(spread(2)), pieces(spread(3))) == (2, 0)


def test_attention_stays_whole_where_more_of_it_is_taken():
    traced = trace(lambda q: aten._scaled_dot_product_efficient_attention(q, q, q, None, True), rows(1, 2, 4, 8))
    node = next(node for node in traced.graph.nodes if node.op == "call_function")
    assert not Lowering(OPS, torch.device("cpu")).supports(node)


def test_no_piece_gives_integers_to_anybody():
    def function(x):
        scaled = x * 2 + 1
        best = scaled.argmax(-1) + 1
        values, places = scaled.relu().max(-1)
        within = scaled.to(torch.int64) * 2
        return best, values + 1, places, (scaled * within).exp()

    x = torch.randn(4, 6)
    traced = trace(function, x)
    pieces = split(traced, Lowering(OPS, torch.device("cpu")))
    assert pieces
    given = [value for piece in pieces.values() for value in results(output_of(piece).args[0])]
    assert given and all(value.meta["val"].dtype == torch.float32 for value in given)
    inside = [str(node.target) for piece in pieces.values() for node in piece.graph.nodes]
    assert "aten._to_copy.default" in inside
    assert "aten.argmax.default" not in inside and "aten.max.dim" not in inside
    for found, expected in zip(traced(x), function(x), strict=True):
        assert torch.equal(found, expected)


def output_of(piece):
    return next(node for node in reversed(piece.graph.nodes) if node.op == "output")


def test_types_differ_by_strides_that_mean_something():
    same = is_same_type
    assert same(("f32", (4, 1, 8), (8, 3, 1)), ("f32", (4, 1, 8), (8, 8, 1)))
    assert not same(("f32", (4, 2, 8), (8, 3, 1)), ("f32", (4, 2, 8), (8, 8, 1)))
    assert not same(("f32", (4, 1, 8), (8, 8, 1)), ("f16", (4, 1, 8), (8, 8, 1)))
    assert not same(("f32", (1,), (1,)), ("f32", (1, 1), (1, 1)))
