"""Models that are compiled ahead of time: results, guards, and what is saved."""

import copy
import gc
import json
import pickle
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import passhost  # noqa: E402
from passhost.errors import InputMismatch, SettingsError  # noqa: E402


class Nested(nn.Module):
    """Takes and gives more than tensors."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, pair, times=1):
        x, y = pair["x"], pair["y"]
        z = torch.relu(self.fc(x) * self.scale) + torch.tensor([1.0, -1.0] * 4)
        return {"sum": (z * times + y).tanh(), "times": times, "rest": [None, (z.exp() - 1).abs()]}


class Around(nn.Module):
    """Two pieces around an op whose integers no piece may give."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        rows = self.norm(x).exp().mul(0.5).argmax(0)
        return x.index_select(0, rows).tanh().sub(1).exp(), rows


def mlp():
    return nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8), nn.Tanh()).eval()


MODELS = {
    "one piece": (mlp, lambda: (torch.randn(4, 8),)),
    "several pieces": (lambda: Around().eval(), lambda: (torch.randn(4, 8),)),
    "nested": (lambda: Nested().eval(), lambda: ({"x": torch.randn(4, 8), "y": torch.randn(8)}, 3)),
}


@pytest.fixture
def ahead(dynamo, plugins):
    """Compiles so that every rewritten piece is taken."""

    def compile(model, *inputs, **options):
        return passhost.compile(model, *inputs, pass_=str(plugins / "autofuse.wasm"), **{"check": False, **options})

    return compile


@pytest.fixture(params=MODELS)
def case(request):
    make, inputs = MODELS[request.param]
    return make(), inputs


def eager(model, inputs):
    with torch.no_grad():
        return model(*inputs)


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_results_are_those_of_eager_and_dynamo_is_not_asked(ahead, case, caplog):
    model, inputs = case
    fast = ahead(model, *inputs())
    assert "rewritten" in caplog.text and "0 of" not in caplog.text
    with torch._dynamo.config.patch(disable=True), torch.compiler.set_stance("fail_on_recompile"):
        for _ in range(3):
            given = inputs()
            close(fast(*given), eager(model, given))


def test_weights_that_change_in_place_or_get_other_memory_are_seen(ahead, case):
    model, inputs = case
    fast, given = ahead(model, *inputs()), inputs()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3).add_(0.1)
    close(fast(*given), eager(model, given))
    for parameter in model.parameters():
        parameter.data = parameter.detach() * 0.5
    close(fast(*given), eager(model, given))


@pytest.mark.parametrize(
    "inputs, message",
    [
        (lambda x: (), "0 inputs, compiled for 1"),
        (lambda x: (x[:2],), r"input 0, `input`, is f32\[2,8\] on the CPU; .* compiled for f32\[4,8\] on the CPU"),
        (lambda x: (x.double(),), r"is f64\[4,8\] on the CPU"),
        (lambda x: (x.t().contiguous().t(),), r"is f32\[4,8\]\{1,4\} on the CPU"),
        (lambda x: (x.tolist(),), "is of type list"),
        (lambda x: (nn.UninitializedParameter(),), "is of type UninitializedParameter"),
        (lambda x: (x.to("meta"),), "does not know"),
        (lambda x: (x.to_sparse(),), r"is a tensor of layout torch\.sparse_coo"),
        (lambda x: (x.to_sparse_csr(),), r"is a tensor of layout torch\.sparse_csr"),
        (lambda x: (torch.nested.nested_tensor([x]),), "is a nested tensor"),
        (lambda x: (torch.nested.nested_tensor([x], layout=torch.jagged),), "is of type NestedTensor"),
        (lambda x: (torch._neg_view(x),), "is a negated view"),
        (lambda x: (x.to(torch.complex64),), "does not know"),
        (lambda x: (x.requires_grad_(),), "needs a gradient; .* call it under torch.no_grad"),
    ],
)
def test_other_inputs_are_an_error_that_names_them(inputs, message, ahead, capfd):
    model = mlp()
    fast, given = ahead(model, torch.randn(4, 8)), inputs(torch.randn(4, 8))
    capfd.readouterr()
    with pytest.raises(InputMismatch, match=message):
        fast(*given)
    # PyTorch wrote nothing of its own.
    assert capfd.readouterr().err == ""
    x = torch.randn(4, 8, requires_grad=True)
    with torch.no_grad():
        close(fast(x), model(x))


def test_strides_of_dimensions_of_one_element_mean_nothing(ahead):
    model = mlp()
    fast = ahead(model, torch.randn(4, 1, 8))
    x = torch.randn(4, 1, 8)
    close(fast(x.as_strided((4, 1, 8), (8, 3, 1))), model(x))
    with pytest.raises(InputMismatch, match=r"\{1,3,4\}"):
        fast(torch.randn(32).as_strided((4, 1, 8), (1, 3, 4)))


def test_constants_nesting_autocast_and_types_of_weights_are_guarded(ahead):
    model, x = Nested().eval(), torch.randn(4, 8)
    fast = ahead(model, {"x": x, "y": x}, 3)
    for given in ({"x": x, "y": x}, 4), ({"x": x, "y": x}, 3.0), ({"x": x}, 3), ([x, x], 3):
        with pytest.raises(InputMismatch):
            fast(*given)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(InputMismatch, match="autocast is on"):
        fast({"x": x, "y": x}, 3)
    model.double()
    with pytest.raises(InputMismatch, match=r"weight `fc.weight`, is f64\[8,8\]"):
        fast({"x": x, "y": x}, 3)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        return self.function(self, x)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda self, x: self.count.add_(x).exp().log(), "the model changes `count`"),
        (lambda self, x: x.add_(1).exp().log(), "the model changes `x`"),
        (lambda self, x: (x.exp().log(), x.view(2, 2)), "result 1 is input `x` or a view of it"),
        (lambda self, x: self.count[1:], "result 0 is input `b_count` or a view of it"),
        (lambda self, x: (lambda y: (y, y[1:]))(x.exp().log()), "results 0 and 1 share memory"),
        (lambda self, x: x if x.sum() > 0 else -x, "torch.export cannot export the model"),
    ],
)
def test_what_cannot_be_compiled_ahead_of_time_is_refused(function, message, ahead):
    with pytest.raises(SettingsError, match=f"{message}.*use torch.compile"):
        ahead(Function(function), torch.ones(4))


def test_a_function_is_no_model(ahead):
    with pytest.raises(SettingsError, match=r"the model is function; expected torch\.nn\.Module"):
        ahead(lambda x: x, torch.ones(4))


def test_a_pass_that_fails_leaves_the_model_behind_the_guards(dynamo, tmp_path, caplog):
    path = tmp_path / "broken.wasm"
    path.write_bytes(b"\0asm\x0d\0\x01\0nothing of the kind")
    model, x = mlp(), torch.randn(4, 8)
    fast = passhost.compile(model, x, pass_=str(path))
    assert torch.equal(fast(x), eager(model, (x,)))
    with pytest.raises(InputMismatch):
        fast(x[:2])
    assert "broken" in caplog.text


def test_pieces_are_checked_and_timed_at_compilation(ahead, capsys):
    model, x = mlp(), torch.randn(4, 8)
    fast = ahead(model, x, check=True, report=True)
    title, _, row = capsys.readouterr().out.splitlines()
    assert title.startswith("autofuse, ahead of time: ") and row.split()[-1] in ("taken", "slower")
    close(fast(x), eager(model, (x,)))


def test_a_saved_model_is_loaded_for_the_weights_of_a_model(ahead, case, tmp_path, dynamo, monkeypatch):
    model, inputs = case
    ahead(model, *inputs()).save(tmp_path / "saved")
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.5)
    monkeypatch.delattr("passhost._engine.Pass")
    fast = passhost.load(tmp_path / "saved", other)
    for _ in range(2):
        given = inputs()
        close(fast(*given), eager(other, given))
    with pytest.raises(InputMismatch):
        fast()
    fast.save(tmp_path / "again")
    for path in (tmp_path / "saved").iterdir():
        assert path.read_text() == (tmp_path / "again" / path.name).read_text()


@pytest.fixture
def saved(ahead, tmp_path):
    """A saved model, a way to load it, and its outer graph."""
    model = Around().eval()
    ahead(model, torch.randn(4, 8)).save(tmp_path)
    return model, tmp_path


def change(folder, edit):
    data = json.loads((folder / "model.json").read_text())
    edit(data)
    (folder / "model.json").write_text(json.dumps(data))


def op_call(data):
    return next(call for call in data["graph"]["calls"] if "op" in call)


CHANGES = {
    "another format": (lambda data: data.update(format=9), "format 9"),
    "another PyTorch": (lambda data: data["made"].update(torch="1.0"), "saved with torch '1.0'"),
    "another device": (lambda data: data["made"].update(device="TPU"), "saved with device 'TPU'"),
    "an op that reads files": (
        lambda data: op_call(data).update(op=["from_file", ""], args=["/etc/passwd"]),
        "may not call aten.from_file",
    ),
    "an op that writes": (lambda data: op_call(data).update(op=["add_", "Tensor"]), "may not call aten.add_"),
    "a gradient, which trusts its indices": (
        lambda data: op_call(data).update(op=["max_pool2d_with_indices_backward", ""]),
        "may not call aten.max_pool2d_with_indices_backward",
    ),
    "an op that trusts its operands": (
        lambda data: op_call(data).update(
            op=["native_batch_norm", ""], args=[{"of": 2}, None, None, None, None, True, 1.0, 1e-5], kwargs={}
        ),
        "may not call aten.native_batch_norm",
    ),
    "an op that changes statistics": (
        lambda data: op_call(data).update(
            op=["batch_norm", ""], args=[{"of": 2}, None, None, {"of": 0}, {"of": 1}, True, 1.0, 1e-5, False], kwargs={}
        ),
        "may not call aten.batch_norm",
    ),
    "an op of training steps": (
        lambda data: op_call(data).update(op=["_scaled_dot_product_flash_attention_for_cpu", ""]),
        "may not call aten._scaled_dot_product_flash_attention_for_cpu",
    ),
    "no op": (lambda data: op_call(data).update(op=["__class__", "mro"]), "holds no compiled model"),
    "a path": (lambda data: op_call(data).update(op=["os.system", ""]), "no op: 'os.system'"),
    "a value from later": (lambda data: op_call(data).update(args=[{"of": 10_000}]), "holds no compiled model"),
    "a weight of another name": (lambda data: data["weights"][0].update(name="x"), "the model has no weight 'x'"),
    "a weight of another type": (
        lambda data: data["weights"][0].update(type=["f32", [9], [1]]),
        "give the model that was compiled",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_directory_that_was_changed_is_refused(name, saved):
    model, folder = saved
    edit, message = CHANGES[name]
    change(folder, edit)
    with pytest.raises(SettingsError, match=message):
        passhost.load(folder, model)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("graph(", "garbage(", "is no rewrite that may run"),
        ("return (", "return (%none, ", "is no rewrite that may run"),
        ("kernel", "aten::from_file", "is no rewrite that may run"),
    ],
)
def test_a_rewrite_that_was_changed_is_verified(old, new, message, saved):
    model, folder = saved
    path = folder / "piece-0.rewrite"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SettingsError, match=message):
        passhost.load(folder, model)


def test_a_graph_that_writes_is_refused(saved):
    model, folder = saved
    graph = "graph(%x: f32[4,8]) {\n  %y: f32[4,8] = aten::relu_(%x)\n  return (%y)\n}\n"
    for name in ("piece-0.graph", "piece-0.rewrite"):
        (folder / name).write_text(graph)
    with pytest.raises(SettingsError, match="aten::relu_, which writes to a tensor"):
        passhost.load(folder, model)


def test_a_graph_that_lies_about_a_type_is_refused(saved):
    model, folder = saved
    graph = "graph(%x: f32[4,8]) {\n  %y: f32[4,8] = aten::relu(%x)\n  return (%y)\n}\n"
    for lie in ("f32[4000,8] = aten::relu", "f16[4,8] = aten::relu", "f32[4,8]{1,4} = aten::relu"):
        for name in ("piece-0.graph", "piece-0.rewrite"):
            (folder / name).write_text(graph.replace("f32[4,8] = aten::relu", lie))
        with pytest.raises(SettingsError, match="returns other types than the graph declares"):
            passhost.load(folder, model)


def test_tensors_without_memory_are_refused(ahead):
    model = mlp()
    fast = ahead(model, torch.randn(4, 8))
    with pytest.raises(InputMismatch):
        fast(torch._efficientzerotensor((4, 8)))
    model[1].weight.untyped_storage().resize_(0)
    with torch.no_grad(), pytest.raises(InputMismatch, match=r"weight `1\.weight`"):
        fast(torch.randn(4, 8))


def test_an_op_that_is_on_no_list_cannot_be_saved(ahead, tmp_path):
    class Sums(nn.Module):
        def forward(self, x):
            return torch.logcumsumexp(x.exp().mul(0.5), 0).tanh().sub(1).exp()

    fast = ahead(Sums(), torch.randn(4, 8))
    with pytest.raises(SettingsError, match=r"outside of pieces it calls aten\.logcumsumexp\.default"):
        fast.save(tmp_path / "saved")


def test_a_directory_of_something_else_is_refused(saved, tmp_path):
    model, folder = saved
    with pytest.raises(SettingsError, match="is no file"):
        passhost.load(tmp_path / "nowhere", model)
    (folder / "model.json").write_text("[" * 100_000)
    with pytest.raises(SettingsError, match="holds no compiled model"):
        passhost.load(folder, model)
    shutil.rmtree(folder)


def test_a_compiled_model_is_saved_and_not_pickled(ahead):
    fast = ahead(mlp(), torch.randn(4, 8))
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(SettingsError, match=r"use \.save\(directory\)"):
            copied(fast)


def test_several_threads_call_it_and_a_compiled_function_does(ahead):
    model = mlp()
    fast, inputs = ahead(model, torch.randn(4, 8)), [torch.randn(4, 8) for _ in range(16)]
    with ThreadPoolExecutor(4) as pool:
        for x, found in zip(inputs, pool.map(fast, inputs), strict=True):
            close(found, eager(model, (x,)))
    outer = torch.compile(lambda x: fast(x + 1) * 2, backend="eager")
    close(outer(inputs[0]), eager(model, (inputs[0] + 1,)) * 2)


def test_a_model_that_holds_what_was_compiled_of_it_is_freed(ahead):
    for make, inputs in MODELS.values():
        model = make()
        model.fast = ahead(model, *inputs())
        gone = weakref.ref(model)
        del model
        gc.collect()
        assert gone() is None
