"""Models that draw random numbers: with the same seed they draw what eager draws."""

import copy

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture
def through(dynamo, plugins):
    def compile(model, check=False):
        options = {"pass": str(plugins / "autofuse.wasm"), "check": check}
        return torch.compile(model, backend=dynamo.backend, options=options)

    return compile


def no_input(x):
    """The second draw depends on nothing before it."""
    drawn = F.dropout(x.exp().mul(2).add(1), 0.5)
    return (drawn.tanh() * torch.rand_like(x) + F.dropout(x.sin().mul(3), 0.5)).sigmoid()


def crossed(x):
    """What the first draw takes and what is made of the second cannot be one piece."""
    first, second = F.dropout(x.exp().mul(2).sin(), 0.5), torch.randn(4, 8)
    third = F.dropout(second.cos().mul(2), 0.5)
    return (first + third).tanh().mul(2), second.sin().mul(3) * torch.bernoulli(first.sigmoid().mul(0.5))


@pytest.mark.parametrize("needs_gradient", [False, True])
@pytest.mark.parametrize("function", [no_input, crossed])
def test_draws_stay_in_their_order(function, needs_gradient, through, caplog):
    x = torch.randn(4, 8, requires_grad=needs_gradient)
    found = []
    for run in (function, through(function)):
        torch.manual_seed(5)
        results = [value for _ in range(2) for value in torch.utils._pytree.tree_leaves(run(x))]
        found.append(results + ([*torch.autograd.grad(sum(map(torch.sum, results)), x)] if needs_gradient else []))
    for expected, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)
    assert "pieces rewritten" in caplog.text and "0 of" not in caplog.text


class Layer(nn.Module):
    """A layer of a transformer with dropout of attention, of its result and inside and after the feed-forward part."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, activation="gelu", batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.layer(x)).flatten(0, 1), y.flatten())


@pytest.mark.parametrize("check", [False, True])
def test_a_layer_with_dropout_trains_as_in_eager(check, through, caplog):
    model = Layer()
    x, y = torch.randn(3, 2, 6, 32), torch.randint(5, (3, 2, 6))
    losses = []
    for one in (copy.deepcopy(model), model):
        run = through(one, check) if one is model else one
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
        torch.manual_seed(7)
        for step in range(3):
            optimizer.zero_grad()
            loss = run(x[step], y[step])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        losses.append(torch.rand(()))
    torch.testing.assert_close(losses[4:], losses[:4], rtol=1e-5, atol=1e-6)
    assert len(set(map(float, losses[:4]))) == 4
    assert check or ("forward: 4 of 5" in caplog.text and "backward: 1 of 1" in caplog.text), caplog.messages
