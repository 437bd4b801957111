"""Ops of the library in a program: called through PyTorch's dispatcher where it takes their arguments, else by name."""

import pytest

torch = pytest.importorskip("torch")

#: From 2.10 on the dispatcher takes lists and text.
TAKES_LISTS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)

X = "%x: f32[2,4,6,6]"
CALLS = {
    "an optional tensor": (f"{X}, %w: f32[3,6], %b: f32[3]", "f32[2,4,6,3] = aten::linear(%x, %w, %b)", False),
    "an absent tensor": (f"{X}, %w: f32[3,6]", "f32[2,4,6,3] = aten::linear(%x, %w, none)", False),
    "an optional float": (
        f"{X}, %k: f32[2,4,6,6], %v: f32[2,4,6,6]",
        "f32[2,4,6,6] = aten::scaled_dot_product_attention(%x, %k, %v, none, 0.0, true, scale=0.5)",
        False,
    ),
    "a type": (X, "f64[2,4,6,6] = aten::softmax.int(%x, -1, f64)", False),
    "lists": (f"{X}, %w: f32[8,2,3,3]", "f32[2,8,3,3] = aten::conv2d(%x, %w, none, [2, 2], [1, 1], [1, 1], 2)", True),
    "an optional list": (X, "f32[2,4] = aten::mean.dim(%x, [2, 3])", True),
    "tensors": (f"{X}, %y: f32[2,1,6,6]", "f32[2,5,6,6] = aten::cat([%x, %y], 1)", True),
    "optional tensors": (f"{X}, %i: i64[3]", "f32[2,3,6,6] = aten::index.Tensor(%x, [none, %i])", True),
    "text": (X, 'f32[2,4,6,6] = aten::gelu(%x, approximate="tanh")', True),
    "a memory format": (
        X,
        "f32[2,4,6,6]{144,1,24,4} = aten::clone(%x, memory_format=channels_last)",
        False,
    ),
    "a device": (X, "f32[2,3] = aten::zeros([2, 3], dtype=f32, device=device)", True),
}


def inputs_of(parameters):
    made = []
    for parameter in parameters.split(", %"):
        dtype, _, shape = parameter.split(": ")[1].rstrip("]").partition("[")
        sizes = [int(size) for size in shape.split(",")]
        made.append(torch.randn(sizes) if dtype == "f32" else torch.tensor([2, 0, 2]))
    return made


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_gives_what_the_op_gives(dynamo, kind):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    parameters, call, needs_lists = CALLS[kind]
    library, by_name = Library(torch.device("cpu"), engine()[1]), []

    def prepare(name, overload, arguments):
        prepared = library.prepare(name, overload, arguments)

        def run(tensors):
            by_name.append(name)
            return prepared(tensors)

        prepared_ops.append(prepared)
        return run

    prepared_ops = []
    program = engine()[0].Program(f"graph({parameters}) {{\n  %r: {call}\n  return (%r)\n}}\n", None, 1, prepare)
    inputs = inputs_of(parameters)
    for _ in range(2):
        (found,) = program.run(list(inputs))
        (expected,) = prepared_ops[0](inputs)
        assert found.stride() == expected.stride()
        assert torch.equal(found, expected)
    assert bool(by_name) == (needs_lists and not TAKES_LISTS)


def test_a_number_of_any_kind_goes_by_name(dynamo):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    text = f"graph({X}) {{\n  %r: f32[2,4,6,6] = aten::mul.Scalar(%x, 3)\n  return (%r)\n}}\n"
    program = engine()[0].Program(text, None, 1, Library(torch.device("cpu"), engine()[1]).prepare)
    x = torch.randn(2, 4, 6, 6)
    assert torch.equal(program.run([x])[0], x * 3)


def test_an_op_that_refuses_says_why(dynamo):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    # The index is known only when the program runs.
    text = f"graph({X}, %i: i64[3]) {{\n  %r: f32[2,3,6,6] = aten::index_select(%x, 1, %i)\n  return (%r)\n}}\n"
    extension = engine()[0]
    program = extension.Program(text, None, 1, Library(torch.device("cpu"), engine()[1]).prepare)
    x = torch.randn(2, 4, 6, 6)
    for _ in range(2):
        with pytest.raises(extension.EngineError, match="out of DATA bounds"):
            program.run([x, torch.tensor([0, 9, 1])])
    assert torch.equal(program.run([x, torch.tensor([0, 3, 1])])[0], x[:, [0, 3, 1]])
