"""Whole graphs and training steps beside what they were: which is taken, and that timing them leaves nothing behind."""

import pytest

torch = pytest.importorskip("torch")


def with_clock(dynamo, monkeypatch, as_a_whole):
    """Has the clock say that pieces are faster, and of whole graphs what the test wants, once all have run. Returns the
    titles of those."""
    times, is_faster, answers, titles = dynamo.check.times, dynamo.check.is_faster, [(2.0, 1.0)], []

    def timed(*of):
        assert all(value > 0 for value in times(*of))
        return answers[-1]

    def whole(title, *of):
        titles.append(title)
        answers.append(as_a_whole)
        try:
            return is_faster(title, *of)
        finally:
            answers.pop()

    monkeypatch.setattr(dynamo.check, "times", timed)
    monkeypatch.setattr(dynamo.check, "is_faster", whole)
    return titles


@pytest.mark.parametrize("faster", [True, False])
def test_a_model_that_is_not_faster_as_a_whole_stays_as_it_was(dynamo, monkeypatch, caplog, faster):
    titles = with_clock(dynamo, monkeypatch, (2.0, 1.0) if faster else (1.0, 1.0))
    model = torch.nn.Sequential(torch.nn.LayerNorm(64), torch.nn.GELU(), torch.nn.LayerNorm(64)).eval()
    with torch.inference_mode():
        x = torch.randn(32, 64)
        compiled = torch.compile(model, backend=dynamo.backend)
        for _ in range(3):
            torch.testing.assert_close(compiled(x), model(x))
    assert titles == ["autofuse, inference"]
    assert ("the model runs as it was" in caplog.text) != faster


def test_a_model_with_effects_is_not_run_to_be_timed(dynamo, caplog):
    def draws(x):
        return torch.nn.functional.layer_norm(x, (64,)).sin().cos() + torch.rand_like(x)

    def counts(x, total):
        total.add_(1.0)
        return torch.nn.functional.layer_norm(x, (64,)).sin().cos() * 2

    with torch.inference_mode():
        x, total = torch.randn(8, 64), torch.zeros(4)
        torch.manual_seed(1)
        expected = [draws(x) for _ in range(2)]
        torch.manual_seed(1)
        compiled = torch.compile(draws, backend=dynamo.backend)
        for value in expected:
            torch.testing.assert_close(compiled(x), value)
        compiled = torch.compile(counts, backend=dynamo.backend)
        for _ in range(2):
            compiled(x, total)
        assert total.tolist() == [2.0] * 4
    assert "as a whole" not in caplog.text


class Noisy(torch.nn.Module):
    """Has what a run changes: statistics of a batch norm, and random numbers."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)

    def forward(self, x):
        return torch.nn.functional.dropout(self.norm(self.convolution(x)).sigmoid().square(), 0.5)


@pytest.mark.parametrize("faster", [True, False])
def test_a_training_step_is_timed_as_a_whole_and_leaves_nothing_behind(dynamo, monkeypatch, caplog, faster):
    titles = with_clock(dynamo, monkeypatch, (2.0, 1.0) if faster else (1.0, 1.0))
    ours, eager = Noisy(), Noisy()
    eager.load_state_dict(ours.state_dict())
    seen = []
    ours.convolution.weight.register_hook(lambda gradient: seen.append(gradient))
    compiled, losses, x = torch.compile(ours, backend=dynamo.backend), [[], []], torch.randn(4, 3, 12, 12)
    for model, into in ((compiled, losses[0]), (eager, losses[1])):
        torch.manual_seed(3)
        for _ in range(4):
            loss = model(x).square().mean()
            loss.backward()
            into.append(loss.item())
    torch.testing.assert_close(losses[0], losses[1])
    assert len(seen) == 4
    torch.testing.assert_close(ours.convolution.weight.grad, eager.convolution.weight.grad, rtol=1e-4, atol=1e-5)
    for (name, found), expected in zip(ours.named_buffers(), eager.buffers(), strict=True):
        torch.testing.assert_close(found, expected, msg=name)
    assert titles == ["autofuse, training step"]
    assert ("the model runs as it was" in caplog.text) != faster


def test_a_step_in_a_checkpoint_is_not_timed(dynamo, monkeypatch):
    titles = with_clock(dynamo, monkeypatch, (2.0, 1.0))
    block = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 32))
    compiled, x = torch.compile(block, backend=dynamo.backend), torch.randn(8, 32)
    for _ in range(3):
        torch.utils.checkpoint.checkpoint(compiled, x, use_reentrant=False).square().sum().backward()
    assert not titles


@torch.library.custom_op("passhost_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class BackwardTwice(torch.autograd.Function):
    """The same number, whose gradient a foreign op doubles."""

    @staticmethod
    def forward(_, x):
        return x.clone()

    @staticmethod
    def backward(_, gradient):
        return twice(gradient)


def test_a_step_whose_backward_calls_what_may_leave_something_behind_is_not_timed(dynamo, monkeypatch):
    titles = with_clock(dynamo, monkeypatch, (2.0, 1.0))

    def model(x, factor):
        return torch.nn.functional.layer_norm(BackwardTwice.apply(x * factor), (64,)).sin().cos()

    x, gradients = torch.randn(8, 64), []
    for run in (model, torch.compile(model, backend=dynamo.backend)):
        factor = torch.ones(64, requires_grad=True)
        for _ in range(3):
            run(x, factor).square().sum().backward()
        gradients.append(factor.grad)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)
    assert not titles


def test_a_step_for_which_memory_is_short_trains_all_the_same(dynamo, monkeypatch, caplog):
    def short(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")

    with_clock(dynamo, monkeypatch, (2.0, 1.0))
    monkeypatch.setattr(dynamo.whole, "_step", lambda _: short)
    model = Noisy()
    compiled, before, x = torch.compile(model, backend=dynamo.backend), None, torch.randn(4, 3, 12, 12)
    for step in range(3):
        compiled(x).square().mean().backward()
        assert model.norm.num_batches_tracked.item() == step + 1
        assert before is None or not torch.equal(model.convolution.weight.grad, before)
        before = model.convolution.weight.grad.clone()
    assert "not timed as a whole: CUDA out of memory." in caplog.text


def test_a_step_whose_input_changes_and_needs_a_gradient_is_not_timed_as_a_whole(dynamo, monkeypatch):
    titles = with_clock(dynamo, monkeypatch, (2.0, 1.0))

    def scaled(x, factor):
        total = torch.nn.functional.layer_norm(x + factor, (64,)).sin().cos()
        x.mul_(0.5)
        return total

    x = torch.randn(8, 64)
    for model in (scaled, torch.compile(scaled, backend=dynamo.backend)):
        for _ in range(3):
            factor = torch.ones(64, requires_grad=True)
            model((x + 0).requires_grad_() * 1, factor).sum().backward()
    assert not titles
