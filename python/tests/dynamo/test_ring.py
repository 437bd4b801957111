"""Captures used in turn, on the CPU: a replay runs again and writes where the results of the capture lie."""

import copy
import ctypes
import gc
import itertools
import pickle
import random
import weakref

import pytest

torch = pytest.importorskip("torch")

from passhost.dynamo.ring import MOST, Capture, Ring, flat  # noqa: E402


def at_address(value):
    """The same memory without a share in it."""
    size = flat(value).nbytes
    if not size:
        return torch.empty_like(value)
    buffer = (ctypes.c_char * size).from_address(value.data_ptr())
    return torch.frombuffer(buffer, dtype=value.dtype).as_strided(value.shape, value.stride())


class Recorder:
    """Stands for the device: it reads and writes at addresses, whoever has the memory."""

    def __init__(self, run):
        self.run, self.captures, self.replays, self.streams, self.releases = run, 0, 0, 0, 0
        self.ring = Ring(self.stream, self.record, self.release)

    def __call__(self, *inputs):
        return self.ring(list(inputs))

    def stream(self, inputs):
        self.streams += 1
        return self.run(inputs)

    def release(self):
        self.releases += 1

    def record(self, inputs):
        self.captures += 1
        results, theirs = self.run(inputs), {value.untyped_storage().data_ptr() for value in inputs}
        places = [None if at.untyped_storage().data_ptr() in theirs else at.data_ptr() for at in results]
        inputs = list(map(at_address, inputs))

        def replay():
            self.replays += 1
            for value, place in zip(self.run(inputs), places, strict=True):
                if place is not None:
                    ctypes.memmove(place, value.data_ptr(), value.nbytes)

        return replay, results


WEIGHT = torch.nn.Parameter(torch.randn(8))


def layer(inputs):
    x, weight = inputs
    return [x * 2 + weight.detach(), x.sum(0), x > 0]


def drawn():
    return torch.randn(4, 8)


def right(x, found, weight=WEIGHT):
    return all(map(torch.equal, found, layer([x, weight])))


@pytest.fixture
def layers():
    """Called once with an input that moves from then on, as a piece is that was judged."""
    recorder = Recorder(layer)
    # Both are there at once: else the second one may lie where the first one lay.
    for x in [drawn(), drawn()]:
        recorder(x, WEIGHT)
    recorder.captures = recorder.streams = recorder.releases = 0
    return recorder


def test_results_that_nobody_has_any_more_are_written_again(layers):
    places = set()
    for _ in range(6):
        x = drawn()
        found = layers(x, WEIGHT)
        assert right(x, found)
        places.add(tuple(value.data_ptr() for value in found))
        del found
    assert len(places) == 1 and layers.captures == layers.streams == 0


def test_results_that_are_used_until_the_next_ones_come_are_written_in_turn(layers):
    places, before, x_before = [], None, None
    for _ in range(6):
        x = drawn()
        found = layers(x, WEIGHT)
        assert right(x, found) and (before is None or right(x_before, before))
        before, x_before = found, x
        places.append(found[0].data_ptr())
    assert places[0] != places[1] and places[2:] == places[:2] * 2
    assert layers.captures == 1 and layers.streams == 0


def test_results_that_are_kept_are_never_written_and_what_comes_next_is_a_copy(layers):
    for _ in range(2 * MOST):
        inputs = [drawn() for _ in range(7)]
        kept = [layers(x, WEIGHT) for x in inputs]
        assert all(map(right, inputs, kept))
        assert len({value.data_ptr() for found in kept for value in found}) == 21
    # No further captures after a while, and no stream instead.
    assert layers.captures < MOST and layers.streams == 0
    del kept
    assert right(inputs[0], layers(inputs[0], WEIGHT))


#: What may be left of a result.
LEFT = {
    "one of the results": lambda found: found[1],
    "a view": lambda found: found[0][1:, ::2],
    "its memory": lambda found: found[0].untyped_storage(),
    "an array": lambda found: found[0].numpy(),
    "what another library has": lambda found: torch.utils.dlpack.to_dlpack(found[0]),
    "what autograd saved": lambda found: (torch.ones(4, 8, requires_grad=True) * found[0]).sum(),
    "a gradient": lambda found: gradient(found[0]),
    "another that is set to it": lambda found: torch.empty(0).set_(found[0]),
    "a cycle": lambda found: cycle(found[0]),
}


def gradient(value):
    leaf = torch.zeros(4, 8, requires_grad=True)
    leaf.grad = value
    return leaf


def cycle(value):
    holder = {"value": value}
    holder["itself"] = holder
    return holder


@pytest.mark.parametrize("kind", LEFT)
def test_what_is_left_of_a_result_keeps_it(kind, layers):
    gc.disable()
    try:
        x = drawn()
        found = layers(x, WEIGHT)
        place, value = found[0].data_ptr() if kind != "one of the results" else found[1].data_ptr(), found[0].clone()
        if kind == "one of the results":
            value = found[1].clone()
        left = LEFT[kind](found)
        del found
        for _ in range(3):
            x = drawn()
            found = layers(x, WEIGHT)
            assert right(x, found)
            assert place not in [value.data_ptr() for value in found]
            del found
        held = torch.empty(0).set_(left) if isinstance(left, torch.UntypedStorage) else None
        assert held is None or torch.equal(held.view(4, 8), value)
        del left, held
        gc.collect()
        # It is given again, by one of the captures in turn.
        assert place in [one.data_ptr() for _ in range(2) for one in layers(x, WEIGHT)]
    finally:
        gc.enable()


def test_a_weak_reference_keeps_nothing(layers):
    found = layers(drawn(), WEIGHT)
    seen = weakref.ref(found[0])
    place = found[0].data_ptr()
    del found
    assert seen() is None
    assert layers(drawn(), WEIGHT)[0].data_ptr() == place


RESIZES = {
    "a tensor": lambda value: value.resize_(40, 40),
    "its memory": lambda value: value.untyped_storage().resize_(0),
    "its data": lambda value: setattr(value, "data", torch.zeros(3)),
    "set": lambda value: value.set_(torch.zeros(3)),
}


@pytest.mark.parametrize("kind", RESIZES)
def test_results_that_are_resized_are_left_to_their_owner(kind, layers):
    for _ in range(3):
        x = drawn()
        found = layers(x, WEIGHT)
        assert right(x, found)
        RESIZES[kind](found[0])
        shape = found[0].shape
        for _ in range(2):
            y = drawn()
            assert right(y, layers(y, WEIGHT))
        assert found[0].shape == shape and right(x, [x * 2 + WEIGHT.detach(), *found[1:]])


def test_results_are_changed_in_place_copied_and_pickled(layers):
    for _ in range(5):
        x = drawn()
        found = layers(x, WEIGHT)
        twins = copy.deepcopy(found), pickle.loads(pickle.dumps(found))
        assert [value._version for value in found] == [0, 0, 0]
        found[0].add_(1)
        found[2].logical_not_()
        assert found[0]._version == 1 and not found[0].requires_grad and not found[0].is_inference()
        assert torch.equal(found[0], x * 2 + WEIGHT.detach() + 1) and torch.equal(found[2], x <= 0)
        assert all(right(x, twin) for twin in twins)


def test_gradients_go_through_a_result_that_is_given(layers):
    for _ in range(4):
        x, scale = drawn(), torch.ones(8, requires_grad=True)
        (layers(x, WEIGHT)[0] * scale).sum().backward()
        torch.testing.assert_close(scale.grad, (x * 2 + WEIGHT.detach()).sum(0))


@pytest.mark.parametrize("first", [torch.no_grad, torch.inference_mode])
def test_results_are_tensors_of_the_mode_of_the_call(first):
    recorder = Recorder(layer)
    for mode in (first, torch.inference_mode, torch.no_grad, torch.inference_mode, torch.enable_grad):
        with mode():
            for _ in range(3):
                x = drawn()
                found = recorder(x, WEIGHT)
                assert right(x, found)
                assert all(value.is_inference() == (mode is torch.inference_mode) for value in found)


def test_results_that_share_memory_still_do():
    def run(inputs):
        y = inputs[0].exp()
        return [y, y[1], y.t(), y.view(torch.int32)]

    recorder = Recorder(run)
    kept = []
    for _ in range(6):
        x = drawn()
        whole, row, turned, bits = recorder(x)
        kept.append((x, whole, bits))
        assert torch.equal(whole, x.exp()) and torch.equal(row, whole[1]) and turned.stride() == (1, 8)
        assert torch.equal(bits, whole.view(torch.int32))
        row.zero_()
        assert not turned[:, 1].any()
        row.copy_(x[1].exp())
    assert all(torch.equal(whole, x.exp()) for x, whole, _ in kept)


@pytest.mark.parametrize("bits", [[], [torch.int32]])
def test_results_that_are_inputs_are_those_of_the_call(bits):
    def run(inputs):
        x, weight = inputs
        return [x, x[1:].t(), weight[2:4], x + weight, *(x.view(dtype) for dtype in bits)]

    recorder = Recorder(run)
    whole, weight = torch.randn(9, 8), torch.randn(20)[5:13]
    for start in (0, 5, 3, 1):
        x = whole[start : start + 4]
        same, turned, part, total, *viewed = recorder(x, weight)
        assert same.data_ptr() == x.data_ptr() and turned.data_ptr() == x[1].data_ptr()
        assert part.data_ptr() == weight[2:].data_ptr() and torch.equal(turned, x[1:].t())
        assert torch.equal(total, x + weight) and all(torch.equal(one, x.view(one.dtype)) for one in viewed)
    # With bits all results are copied.
    assert recorder.captures == 3 - len(bits)


def test_memory_that_the_run_keeps_is_copied():
    constant = torch.arange(4.0)
    recorder = Recorder(lambda inputs: [constant, inputs[0] + 1])
    for _ in range(4):
        x = drawn()
        kept, found = recorder(x)
        kept.zero_()
        assert torch.equal(constant, torch.arange(4.0)) and torch.equal(found, x + 1)


#: Inputs of each call, and how often they are captured.
INPUTS = {
    "strided": (lambda: torch.randn(8, 4).t(), 2),
    "expanded": (lambda: torch.randn(8).expand(4, 8), 2),
    "overlapping": (lambda: torch.randn(11).as_strided((4, 8), (1, 1)), 2),
    "parts of something": (lambda: torch.randn(9, 9)[3:7, 1:], 2),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_inputs_that_move_are_copied(kind):
    make, captures = INPUTS[kind]
    recorder, keep = Recorder(layer), []
    for _ in range(5):
        x = make()
        keep.append(x)
        assert right(x, recorder(x, WEIGHT))
    assert recorder.captures == captures and recorder.streams == 0


def test_an_input_that_stays_is_read_where_it_is(layers):
    recorder, x = Recorder(layer), drawn()
    for _ in range(3):
        x.normal_()
        assert right(x, recorder(x, WEIGHT))
    assert recorder.captures == 1 and not recorder.ring._own


def test_parameters_are_read_in_place_though_they_move_once():
    recorder, weight, keep = Recorder(layer), torch.nn.Parameter(torch.randn(8)), []
    for step in range(10):
        if step == 7:
            assert list(recorder.ring._own) == [0]
        if step in (3, 5, 7):
            weight.data = torch.randn(8)
        keep.append(weight.data)
        x = drawn()
        keep.append(x)
        assert right(x, recorder(x, weight), weight)
        with torch.no_grad():
            weight.mul_(2)
    assert list(recorder.ring._own) == [0, 1] and recorder.releases == 4 and recorder.streams == 0


def test_inputs_that_always_move_are_captured_a_few_times():
    recorder, keep = Recorder(lambda inputs: [sum(inputs)]), []
    for step in range(12):
        inputs = [torch.randn(8) for _ in range(6)] if not keep else list(keep[-1])
        for place in range(min(step, 6)):
            inputs[place] = torch.randn(8)
        keep.append(inputs)
        assert torch.equal(recorder(*inputs)[0], sum(inputs))
    assert recorder.captures <= 4 and recorder.streams == 0


def test_what_another_capture_gives_is_read_where_it_is():
    """As a training step does: one result of the forward piece is in use until the next one."""
    forward = Recorder(lambda inputs: [inputs[0].exp(), inputs[0] * 2, inputs[0].sum(0)])
    backward = Recorder(lambda inputs: [inputs[0] * inputs[2], inputs[1] * inputs[2]])
    loss = None
    for _ in range(12):
        x, gradient = drawn(), torch.randn(8)
        *saved, loss = forward(x)
        found = backward(*saved, gradient)
        del saved
        assert torch.equal(found[0], x.exp() * gradient) and torch.equal(found[1], x * 2 * gradient)
        del found
    assert loss is not None and list(backward.ring._own) == [2] and backward.captures <= 4
    assert forward.streams == backward.streams == 0


def test_results_are_inputs_of_the_next_call():
    one = Recorder(lambda inputs: [inputs[0] * 0.5 + 1])
    other = Recorder(lambda inputs: [inputs[0].cos()])
    x = y = z = expected = drawn()
    both = expected
    for _ in range(20):
        x, expected = one(x)[0], expected * 0.5 + 1
        assert torch.equal(x, expected)
    one = Recorder(one.run)
    for _ in range(20):
        y = one(other(y)[0])[0]
        both = both.cos() * 0.5 + 1
        assert torch.equal(y, both)
    assert one.streams == other.streams == 0 and max(one.captures, other.captures) < MOST
    kept = []
    for _ in range(20):
        kept.append(z)
        z = other(z)[0]
    assert all(torch.equal(a.cos(), b) for a, b in itertools.pairwise(kept))


def test_what_cannot_be_captured_runs_as_a_stream(caplog):
    recorder = Recorder(layer)
    calls = []

    def record(inputs):
        calls.append(recorder.captures)
        if recorder.captures == 2:
            raise RuntimeError("operation not permitted when stream is capturing")
        return recorder.record(inputs)

    ring = Ring(recorder.stream, record, recorder.release)
    inputs = [drawn() for _ in range(6)]
    kept = [ring([x, WEIGHT]) for x in inputs]
    assert all(map(right, inputs, kept))
    assert len(calls) == 3 and recorder.streams == 4 and len(caplog.messages) == 1
    del kept
    assert right(inputs[0], ring([inputs[0], WEIGHT])) and recorder.streams == 4


def test_a_result_outlives_the_ring(layers):
    x = drawn()
    found = layers(x, WEIGHT)
    layers.ring = None
    gc.collect()
    assert right(x, found)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_done_with_results_each_has_what_was_calculated(seed, layers):
    draw, held = random.Random(seed), []
    weight = torch.nn.Parameter(torch.randn(8))
    for _ in range(200):
        action = draw.choice(["call", "call", "call", "drop", "drop", "change", "view", "resize", "weight", "clear"])
        if action == "call":
            x = drawn()
            found = layers(x, weight)
            expected = layer([x, weight])
            assert all(map(torch.equal, found, expected))
            held += zip(found, expected, strict=True)
        elif action == "weight" and draw.random() < 0.1:
            weight.data = torch.randn(8)
        elif action == "clear" and draw.random() < 0.3:
            held.clear()
        elif held and action in ("drop", "change", "view", "resize"):
            place = draw.randrange(len(held))
            found, expected = held.pop(place)
            if action == "change":
                found.zero_()
                held.append((found, torch.zeros_like(expected)))
            elif action == "view":
                held.append((found[1:], expected[1:]))
            elif action == "resize" and draw.random() < 0.1 and found._is_view() is False:
                found.untyped_storage().resize_(0)
            del found, expected
        assert all(torch.equal(found, expected) for found, expected in held)


def test_a_capture_is_free_before_it_is_replayed():
    replayed = []
    capture = Capture(lambda: replayed.append(True), [], set(), [torch.zeros(3), torch.zeros(0)])
    assert capture.is_free() and capture.fits([]) and not capture.is_shared and not replayed


def test_results_of_the_engine_are_nobody_elses(dynamo):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    library = Library(torch.device("cpu"), engine()[1])
    lines = "  %a: f32[4,8] = aten::linear(%x, %w, none)\n  %b: f32[4,8] = aten::exp(%a)\n"
    lines += "  %c: f32[32] = aten::view(%b, [32])\n"
    text = f"graph(%x: f32[4,8], %w: f32[8,8]) {{\n{lines}  return (%a, %b, %c)\n}}\n"
    program = engine()[0].Program(text, None, 1, library.prepare)
    inputs = [drawn(), torch.randn(8, 8)]
    capture = Capture(lambda: None, inputs, set(), program.run(inputs))
    assert not capture.is_shared and capture.is_free()
    found = capture.results(inputs, gives=True)
    assert not capture.is_free() and torch.equal(found[2], found[1].view(32))
    del found
    assert capture.is_free()
