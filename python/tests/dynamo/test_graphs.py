"""CUDA graphs, on a GPU: what a call gives is what eager gives, and stays it, whatever is done with it."""

import copy
import gc
import io
import logging
import random
import threading

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from test_ring import LEFT, RESIZES, layer  # noqa: E402
from torch import nn  # noqa: E402

from passhost.dynamo.graphed import Graphed  # noqa: E402
from passhost.dynamo.ring import MOST  # noqa: E402

GPU = torch.device("cuda", 0)


def drawn():
    return torch.randn(4, 8, device=GPU)


class Layers:
    """A captured run of PyTorch's ops, without an engine."""

    def __init__(self):
        self.weight = nn.Parameter(torch.randn(8, device=GPU))
        self.graphed = Graphed(self.run, GPU)
        self.streams = 0
        # The first on a stream is not captured, and inputs are copied once one has moved.
        for x in [drawn() for _ in range(3)]:
            self(x)
        self.streams = 0

    def run(self, inputs):
        self.streams += 1
        return layer(inputs)

    def __call__(self, x):
        return self.graphed([x, self.weight])

    def right(self, x, found):
        return all(map(torch.equal, found, layer([x, self.weight])))


@pytest.fixture
def layers():
    return Layers()


def test_results_in_turn_and_kept(layers):
    for keep in (0, 1, 2, 20, 1, 0):
        kept = []
        for _ in range(24):
            x = drawn()
            kept.append((x, layers(x)))
            assert all(layers.right(*pair) for pair in kept)
            del kept[: len(kept) - keep]
    # Captures only: three runs each.
    assert layers.streams <= 3 * MOST and layers.graphed.size > 0


@pytest.mark.parametrize("kind", [kind for kind in LEFT if kind != "an array"])
def test_what_is_left_of_a_result_keeps_it(kind, layers):
    x = drawn()
    found = layers(x)
    if LEFT[kind] is LEFT["what autograd saved"]:
        left = (torch.ones(4, 8, device=GPU, requires_grad=True) * found[0]).sum()
    elif LEFT[kind] is LEFT["a gradient"]:
        left = torch.zeros(4, 8, device=GPU, requires_grad=True)
        left.grad = found[0]
    elif LEFT[kind] is LEFT["another that is set to it"]:
        left = torch.empty(0, device=GPU).set_(found[0])
    else:
        left = LEFT[kind](found)
    place = found[1 if kind == "one of the results" else 0].data_ptr()
    del found
    for _ in range(3):
        x = drawn()
        found = layers(x)
        assert layers.right(x, found) and place not in [value.data_ptr() for value in found]
        del found
    del left
    gc.collect()
    assert place in [one.data_ptr() for _ in range(2) for one in layers(drawn())]


@pytest.mark.parametrize("kind", RESIZES)
def test_results_that_are_resized_are_left_to_their_owner(kind, layers):
    for _ in range(3):
        x = drawn()
        found = layers(x)
        if kind == "its data":
            found[0].data = torch.zeros(3, device=GPU)
        elif kind == "set":
            found[0].set_(torch.zeros(3, device=GPU))
        else:
            RESIZES[kind](found[0])
        for _ in range(2):
            y = drawn()
            assert layers.right(y, layers(y))
        assert all(map(torch.equal, found[1:], layer([x, layers.weight])[1:]))


def test_results_are_changed_copied_and_pickled(layers):
    for _ in range(4):
        x = drawn()
        found = layers(x)
        file = io.BytesIO()
        torch.save(found, file)
        twin = copy.deepcopy(found)
        found[0].zero_()
        file.seek(0)
        assert layers.right(x, twin) and layers.right(x, torch.load(file)) and not found[0].any()


def test_results_that_are_inputs_are_those_of_the_call():
    graphed = Graphed(lambda inputs: [inputs[0], inputs[0][1:].t(), inputs[1][2:4], inputs[0] + inputs[1]], GPU)
    whole, weight = torch.randn(9, 8, device=GPU), torch.randn(20, device=GPU)[5:13]
    for start in (0, 5, 3, 1):
        x = whole[start : start + 4]
        same, turned, part, total = graphed([x, weight])
        assert same.data_ptr() == x.data_ptr() and part.data_ptr() == weight[2:].data_ptr()
        assert torch.equal(turned, x[1:].t()) and torch.equal(total, x + weight)


def test_the_mode_of_the_call_is_that_of_the_results(layers):
    for mode in (torch.inference_mode, torch.no_grad, torch.inference_mode, torch.enable_grad):
        with mode():
            for _ in range(3):
                x = drawn()
                found = layers(x)
                assert layers.right(x, found)
                assert all(value.is_inference() == (mode is torch.inference_mode) for value in found)


def test_streams_wait_for_each_other(layers):
    """Each result is read on its stream behind a long piece of work, and dropped before that is done."""
    streams, checks = [torch.cuda.Stream() for _ in range(3)], []
    busy = torch.randn(2048, 2048, device=GPU)
    for step in range(60):
        stream = streams[step % 3]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            x = torch.full((4, 8), float(step), device=GPU)
            found = layers(x)
            for _ in range(5):
                busy @ busy
            checks.append((found[0] - layer([x, layers.weight])[0]).abs().max())
            del found, x
    torch.cuda.synchronize()
    assert [check.item() for check in checks] == [0.0] * 60


def test_threads_take_turns(layers):
    wrong = []

    def work(seed):
        with torch.cuda.stream(torch.cuda.Stream()):
            draw, kept = random.Random(seed), []
            for step in range(80):
                x = torch.full((4, 8), float(1000 * seed + step), device=GPU)
                kept.append((x, layers(x)))
                if not all(layers.right(*pair) for pair in kept):
                    wrong.append((seed, step))
                del kept[: draw.choice([0, 1, 2])]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    torch.cuda.synchronize()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_with_results_each_has_what_was_calculated(seed, layers):
    draw, held = random.Random(seed), []
    for _ in range(300):
        action = draw.choice(["call", "call", "call", "drop", "drop", "change", "view", "weight", "clear"])
        if action == "call":
            x = drawn()
            held += zip(layers(x), layer([x, layers.weight]), strict=True)
        elif action == "weight" and draw.random() < 0.1:
            layers.weight.data = torch.randn(8, device=GPU)
        elif action == "clear" and draw.random() < 0.3:
            held.clear()
        elif held and action in ("drop", "change", "view"):
            found, expected = held.pop(draw.randrange(len(held)))
            if action == "change":
                found.zero_()
                held.append((found, torch.zeros_like(expected)))
            elif action == "view":
                held.append((found[1:], expected[1:]))
            del found, expected
        assert all(torch.equal(found, expected) for found, expected in held)


def test_memory_is_flat_and_given_back():
    def reserved():
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return torch.cuda.memory_reserved()

    Layers()
    before = reserved()
    layers, levels = Layers(), []
    for round_ in range(30):
        kept = [layers(drawn()) for _ in range(12)]
        del kept
        if round_ > 2 * MOST - 7:
            levels.append(reserved())
    assert len(set(levels)) == 1 and levels[0] > before
    found = layers(drawn())
    expected = [value.clone() for value in found]
    del layers
    reserved()
    assert all(map(torch.equal, found, expected))
    del found, expected
    assert reserved() <= before


class Stack(nn.Module):
    """Norms and products, with many results, as a language model that gives what it keeps of each layer."""

    def __init__(self, layers=4, width=64):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.products = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x):
        kept = []
        for norm, product in zip(self.norms, self.products, strict=True):
            y = nn.functional.gelu(product(norm(x)))
            x = x + y * torch.sigmoid(y)
            kept.append(y.tanh())
        return x, kept


@pytest.fixture
def captured(dynamo, plugins, monkeypatch, caplog):
    """Compiles so that each piece is captured, whether that is faster here or not."""
    caplog.set_level(logging.DEBUG, "passhost")
    monkeypatch.setattr(dynamo.check, "times", lambda *_: (2.0, 1.0))

    def compile(model):
        options = {"pass": str(plugins / "autofuse.wasm"), "launch": "graph"}
        return torch.compile(model, backend=dynamo.backend, options=options)

    yield compile
    text = "\n".join(record.getMessage() for record in caplog.get_records("call") if record.name == "passhost")
    assert "is captured in a CUDA graph" in text and "taken, CUDA graph, " in text
    assert "cannot be captured" not in text and "cannot run" not in text


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_a_model_with_many_results(captured):
    model = Stack().cuda().eval()
    compiled = captured(model)
    with torch.no_grad():
        kept = []
        for _ in range(16):
            x = torch.randn(3, 64, device=GPU)
            kept.append((x, compiled(x)))
        for x, (last, layers) in kept:
            close((last, layers), model(x))
        del kept
        # Results are inputs of the next call.
        x = y = torch.randn(3, 64, device=GPU)
        for _ in range(8):
            x, y = compiled(x)[0] * 0.5, model(y)[0] * 0.5
            close(x, y)
        model.load_state_dict({name: value * 0.5 for name, value in model.state_dict().items()}, assign=True)
        for _ in range(3):
            close(compiled(x), model(x))


@pytest.mark.parametrize("set_to_none", [True, False])
def test_training_steps(captured, set_to_none):
    model = Stack(3).cuda()
    other = copy.deepcopy(model)
    compiled, losses = captured(model), []
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.01) for one in (model, other)]
    for step in range(8):
        x, y = torch.randn(3, 64, device=GPU), torch.randn(3, 64, device=GPU)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=set_to_none)
        pairs = []
        for run in (compiled, other):
            # Two forward passes before the backward ones: what the first has saved stays.
            (first, kept), (second, _) = run(x), run(y)
            loss = first.square().mean() + sum(one.mean() for one in kept) + second.mean() * (step % 2)
            loss.backward()
            pairs.append(loss)
        close(*pairs)
        losses.append(pairs)
        for found, expected in zip(model.parameters(), other.parameters(), strict=True):
            close(found.grad, expected.grad)
        for optimizer in optimizers:
            optimizer.step()
    for pair in losses:
        close(*pair)


def test_inputs_that_are_expanded_or_views(captured):
    def run(x, y):
        return (nn.functional.layer_norm(x, (64,)) * y.sigmoid()).tanh(), x.t(), y

    compiled = captured(run)
    with torch.no_grad():
        for _ in range(5):
            x, y = torch.randn(64, 16, device=GPU).t(), torch.randn(64, device=GPU).expand(16, 64)
            found = compiled(x, y)
            close(found, run(x, y))
            assert found[1].data_ptr() == x.data_ptr()


def test_a_capture_of_the_user_around_it(captured):
    model = Stack(2).cuda().eval()
    compiled, x = captured(model), torch.randn(3, 64, device=GPU)
    with torch.no_grad():
        close(compiled(x), model(x))
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                compiled(x)
            # The rewrite itself has to be loaded for this stream.
            with torch.cuda.graph(graph, stream=stream):
                found = compiled(x)
        torch.cuda.current_stream().wait_stream(stream)
        for _ in range(3):
            x.normal_()
            graph.replay()
            close(found, model(x))
            close(compiled(x), model(x))
