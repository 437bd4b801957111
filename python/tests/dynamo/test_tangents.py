"""Forward-mode differentiation: tangents are eager's."""

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import forward_ad  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402


def function(x):
    return (x.exp() + 1).log().mul(2).tanh()


@pytest.fixture
def through(dynamo, plugins):
    def compile(function):
        options = {"pass": str(plugins / "autofuse.wasm"), "check": False}
        return torch.compile(function, backend=dynamo.backend, options=options)

    return compile


@pytest.fixture
def drawn(dynamo):
    """An input, its tangent, and the tangent of the result."""
    x, tangent = torch.randn(4, 8), torch.randn(4, 8)
    return x, tangent, torch.func.jvp(function, (x,), (tangent,))[1]


def close(found, expected):
    assert found is not None
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("needs_gradient", [False, True])
@pytest.mark.parametrize("context", [torch.no_grad, torch.enable_grad])
@pytest.mark.parametrize("is_known", [False, True])
def test_a_dual_input_gives_the_tangent_of_eager(is_known, context, needs_gradient, through, drawn, caplog):
    x, tangent, expected = drawn
    compiled = through(function)
    with context():
        if is_known:
            close(compiled(x.clone().requires_grad_(needs_gradient)), function(x))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x.clone().requires_grad_(needs_gradient), tangent)
            for _ in range(2):
                close(forward_ad.unpack_dual(compiled(dual)).tangent, expected)
        close(compiled(x.clone().requires_grad_(needs_gradient)), function(x))
    # PyTorch 2.15 leaves a function alone that it first sees with tangents.
    assert not is_known or "1 of 1 pieces rewritten" in caplog.text


def test_transforms_around_and_inside_give_the_tangent_of_eager(through, drawn):
    x, tangent, expected = drawn
    close(torch.func.jvp(through(function), (x,), (tangent,))[1], expected)
    close(through(lambda x, tangent: torch.func.jvp(function, (x,), (tangent,))[1])(x, tangent), expected)


def test_a_gradient_has_the_tangent_of_the_one_that_came_in(through, drawn):
    x, tangent, _ = drawn
    tangents = []
    for run in (through(function), function):
        y = x.clone().requires_grad_()
        result = run(y)
        with forward_ad.dual_level():
            weight = forward_ad.make_dual(torch.ones_like(result), tangent)
            (gradient,) = torch.autograd.grad(result, y, weight)
            tangents.append(forward_ad.unpack_dual(gradient).tangent)
    close(*tangents)


def test_a_model_that_is_compiled_ahead_of_time_refuses_tangents_and_transforms(dynamo, plugins, drawn):
    from passhost import InputMismatch

    x, tangent, _ = drawn
    model = torch.nn.Sequential(torch.nn.GELU("tanh"), torch.nn.Sigmoid())
    fast = dynamo.compile(model, x, pass_=str(plugins / "autofuse.wasm"), check=False)
    with forward_ad.dual_level():
        close(fast(x), model(x))
        with pytest.raises(InputMismatch, match="a tensor has a tangent"):
            fast(forward_ad.make_dual(x, tangent))
    transforms = [
        lambda: torch.func.jvp(fast, (x,), (tangent,)),
        lambda: torch.func.vmap(fast)(torch.stack([x, x])),
        lambda: torch.func.functionalize(fast)(x),
        # Its result would be a constant.
        lambda: make_fx(fast)(x),
        lambda: make_fx(fast, tracing_mode="fake")(x),
    ]
    for transform in transforms:
        with pytest.raises(InputMismatch, match=r"a transform of torch\.func or a tracer is around"):
            transform()
