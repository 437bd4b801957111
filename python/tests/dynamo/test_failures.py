"""What goes wrong leaves eager's answers."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from passhost.dynamo import check  # noqa: E402
from passhost.dynamo.options import Options  # noqa: E402
from passhost.errors import SettingsError  # noqa: E402


def function(x):
    return (x.exp() + 1).log().mul(2)


def test_a_pass_that_is_refused_leaves_the_model_with_one_warning(dynamo, tmp_path, caplog):
    path = tmp_path / "broken.wasm"
    path.write_bytes(b"\0asm\x0d\0\x01\0nothing of the kind")
    compiled = torch.compile(function, backend=dynamo.backend, options={"pass": str(path)})
    for shape in ((3, 4), (5,), (2, 2, 2)):
        x = torch.randn(shape)
        assert torch.equal(compiled(x), function(x))
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1 and "broken" in warnings[0]


#: Scripts of the guest of tests/adversarial, and whether the pass is to blame or its rewrite is only wrong.
HOSTILE = {
    "traps": ("panic at the disco", True),
    "leaves": ("exit", True),
    "fills its memory": ("allocate", True),
    "runs out of stack": ("recurse", True),
    "never returns": ("loop", True),
    "names what is not there": ("damage output 0 4000000000", True),
    "leaves out an op": ("drop aten::log\nfuse", False),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pass_leaves_the_answers_of_eager(name, dynamo, plugins, tmp_path, caplog):
    guest, mark = plugins / "adversarial_guest.wasm", b"passhost script, written here:> "
    if not guest.exists():
        pytest.skip(f"no {guest}: run `make hostile-plugins`")
    script, fails = HOSTILE[name]
    head, _, tail = guest.read_bytes().partition(mark)
    path = tmp_path / "hostile.wasm"
    path.write_bytes(head + mark + script.encode() + tail[len(script) :])
    compiled = torch.compile(function, backend=dynamo.backend, options={"pass": str(path)})
    for shape in ((3, 4), (5,)):
        x = torch.randn(shape)
        assert torch.equal(compiled(x), function(x))
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    if fails:
        assert len(warnings) == 1 and warnings[0].startswith("pass script failed and the model runs as it was: ")
    else:
        assert warnings and all(
            "pass script: a rewrite differs from eager and is not taken: " in line for line in warnings
        )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"passes": "x"}, "option 'passes' is unknown; the backend passhost has pass, policy, report, check, launch"),
        ({"launch": "fast"}, "option 'launch' is 'fast'; expected 'stream' or 'graph'"),
        ({"report": "yes"}, "option 'report' is 'yes'; expected bool"),
        ({"pass": 3}, "option 'pass' is 3; expected str or PathLike or NoneType"),
    ],
)
def test_options_that_are_wrong_are_named(options, message):
    with pytest.raises(SettingsError, match=message):
        Options.parse(options)


def test_a_pass_that_is_not_there_is_an_error(dynamo, tmp_path):
    compiled = torch.compile(function, backend=dynamo.backend, options={"pass": str(tmp_path / "none.wasm")})
    with pytest.raises(Exception, match=r"none\.wasm is no file"):
        compiled(torch.randn(3))


def test_an_import_loads_no_torch():
    code = "import sys, passhost; assert 'torch' not in sys.modules; passhost.compile; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "eager, ours, is_right",
    [
        ([1.0, NAN, INF], [1.0, NAN, INF], True),
        ([1.0], [1.0 + 1e-5], True),
        ([1.0], [1.001], False),
        ([1.0], [NAN], False),
        ([1e30], [INF], False),
        ([INF], [-INF], False),
    ],
)
def test_results_are_compared_at_the_tolerance(eager, ours, is_right):
    eager, ours = torch.tensor(eager), torch.tensor(ours)
    wrong = check.difference([eager], [ours], lambda _: [eager.double()], [])
    assert (wrong is None) == is_right


@pytest.mark.parametrize("dtype", [torch.complex32, torch.complex64, torch.complex128])
def test_complex_results_are_compared_at_the_tolerance(dtype):
    eager = torch.tensor([1 + 2j, complex(NAN, 1)], dtype=torch.complex128).to(dtype)
    for off, is_right in ((0.0, True), (0.01j, False)):
        ours = (eager.to(torch.complex128) + off).to(dtype)
        wrong = check.difference([eager], [ours], lambda _: [eager.to(torch.complex128)], [])
        assert (wrong is None) == is_right


def test_a_result_as_near_to_double_precision_as_eager_is_right():
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    eager, nearer, farther = (torch.tensor([1.0, 2.0 + off]) for off in (0.01, -0.005, -0.02))
    assert check.difference([eager], [nearer], lambda _: [exact], []) is None
    assert "differs in 1 of 2 elements" in check.difference([eager], [farther], lambda _: [exact], [])


def test_a_rewrite_that_never_can_run_is_warned_of_once(dynamo, caplog):
    def function(x):
        return (x * 2 + 1).exp().cfloat()

    compiled = torch.compile(function, backend=dynamo.backend, options={"check": False})
    x = torch.randn(8)
    with torch.inference_mode():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), function(x))
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "cannot run this time, eager does" in warnings[0].getMessage()


@pytest.mark.parametrize(("off", "is_right"), [(1.0, True), (2.0, False)])
def test_what_is_off_in_one_run_is_judged_by_several(off, is_right):
    exact, generator = torch.ones(30, dtype=torch.float64), torch.Generator().manual_seed(1)

    def noise(size):
        return (exact + torch.randn(30, generator=generator, dtype=torch.float64) * size).float()

    # Of the same distribution as eager's error, and yet too far by chance.
    once = exact.float() + 0.01, exact.float() + 0.0115
    seen = []

    def again(inputs):
        seen.append(inputs[0])
        return [noise(0.01)], [noise(0.01 * off)]

    x = torch.rand(30)
    assert check.difference([once[0]], [once[1]], lambda _: [exact], [x]) is not None
    wrong = check.difference([once[0]], [once[1]], lambda _: [exact], [x], again)
    assert (wrong is None) == is_right
    assert len(seen) == check.DRAWS
    assert all(not torch.equal(value, x) and torch.allclose(value, x, rtol=1e-6, atol=0) for value in seen)


def test_another_type_or_layout_is_a_difference():
    x = torch.zeros(2, 3)
    assert "instead of" in check.difference([x], [x.t().contiguous().t()], lambda _: [], [])
    assert "instead of" in check.difference([x], [x.double()], lambda _: [], [])
    assert "instead of" in check.difference([x], [x, x], lambda _: [], [])


def test_a_run_in_double_precision_has_no_narrow_type_inside():
    graph = torch.fx.symbolic_trace(lambda x: (torch.add(x, 1e-4).to(torch.bfloat16),))
    graph = torch.fx.experimental.proxy_tensor.make_fx(graph)(torch.ones(2))
    (exact,) = check.Double(graph).run_on([torch.ones(2)])
    assert exact.dtype == torch.float64 and bool((exact == 1 + 1e-4).all())


def test_a_run_in_double_precision_lies_in_memory_as_the_piece_does():
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda x: (torch.relu(x).view(-1),))(torch.ones(2, 3))
    relu = next(node for node in graph.graph.nodes if node.name == "relu")
    relu.meta["val"] = torch.ones(3, 2).t()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        check.Double(graph).run_on([torch.ones(2, 3)])
