"""What is left for another process, and what a fork has."""

import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

torch = pytest.importorskip("torch")

GRAPH = """graph(%v0: f32[4,8]) {
  %v1: f32[4,8] = aten::exp(self=%v0)
  %v2: f32[4,8] = aten::sigmoid(self=%v1)
  return (%v2)
}
"""


@pytest.fixture
def rewrite(dynamo, plugins, tmp_path, monkeypatch):
    """Has a pass that nobody asked yet rewrite the graph: whether it came from the cache, and the pass was loaded."""
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    extension, _ = engine()

    def run(policy="open", threads=1, graph=GRAPH, path=plugins / "autofuse.wasm"):
        asked = extension.Pass(str(path), policy)
        made = asked.rewrite(graph, None, Library(torch.device("cpu"), engine()[1]).types, threads)
        assert (asked.name, made.kernels, made.changed) == ("autofuse", 1, True)
        assert "kernel(%v0)" in made.graph
        return made.is_kept, asked.is_loaded

    return run


FRESH, KEPT = (False, True), (True, False)


def in_fork(work):
    """Whether work of a forked process returns true in time."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def test_another_process_takes_the_rewrite_from_the_cache_and_loads_no_pass(rewrite):
    assert rewrite() == FRESH
    assert rewrite() == KEPT
    assert in_fork(lambda: rewrite() == KEPT)


def test_a_rewrite_is_kept_for_all_that_it_depends_on(rewrite, plugins, tmp_path):
    assert rewrite() == FRESH
    other = tmp_path / "other.wasm"
    # A custom section without a name changes nothing but the hash.
    other.write_bytes((plugins / "autofuse.wasm").read_bytes() + b"\0\1\0")
    changes = {"policy": "kernels"}, {"threads": 2}, {"graph": GRAPH.replace("[4,8]", "[8,4]")}, {"path": other}
    for change in changes:
        is_kept, _ = rewrite(**change)
        assert not is_kept, change
        assert rewrite(**change) == KEPT


def test_entries_and_keys_that_somebody_else_may_have_written_are_not_taken(rewrite, tmp_path):
    assert rewrite() == FRESH
    kept = tmp_path / "passhost/rewrites"
    for path in kept.iterdir():
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    assert rewrite() == FRESH
    assert rewrite() == KEPT
    (tmp_path / "passhost/rewrites.key").write_bytes(bytes(64))
    assert rewrite() == FRESH
    kept.chmod(0o777)
    assert rewrite() == FRESH


def test_without_a_cache_the_pass_runs_each_time(rewrite, tmp_path):
    (tmp_path / "passhost").write_text("no directory")
    assert rewrite() == FRESH
    assert rewrite() == FRESH


def test_the_line_of_a_graph_says_what_came_from_the_cache(dynamo, plugins, caplog, monkeypatch):
    model = torch.nn.Sequential(torch.nn.GELU("tanh"), torch.nn.Sigmoid())
    for _ in range(2):
        monkeypatch.setattr("passhost.dynamo.options._LOADED", {})
        dynamo.compile(model, torch.randn(3, 7), pass_=str(plugins / "autofuse.wasm"), check=False)
    first, second = (line for line in caplog.messages if " pieces rewritten" in line)
    assert second == f"{first}; 1 from the cache"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_answers_and_compiles_and_leaves_the_pass_to_its_parent(dynamo, plugins):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)).eval()
    compiled = torch.compile(
        model, backend="passhost", options={"pass": str(plugins / "autofuse.wasm"), "check": False}
    )
    ahead = dynamo.compile(model, torch.randn(4, 8), pass_=str(plugins / "autofuse.wasm"), check=False)

    # What is expected is eager's before the fork: in a fork PyTorch's own threads may be waited for without end.
    with torch.no_grad():
        known = {rows: (x, model(x)) for rows in (4, 5, 6) for x in [torch.randn(rows, 8)]}

    def right(rows):
        x, expected = known[rows]
        with torch.no_grad():
            return torch.allclose(compiled(x), expected, atol=1e-5) and (
                rows != 4 or torch.allclose(ahead(x), expected, atol=1e-5)
            )

    # One size is known, another is new to the fork, and a third to the parent after it.
    assert right(4)
    guests = children()
    assert guests and in_fork(lambda: right(4) and right(5))
    assert children() == guests
    assert right(6) and children() == guests


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_workers_of_a_data_loader_run_and_compile(dynamo, plugins):
    options = {"pass": str(plugins / "autofuse.wasm"), "check": False}
    compiled = torch.compile(lambda x: (x.exp() + 1).log() * 2, backend="passhost", options=options)
    data = [torch.full((size,), 0.5) for size in (8, 8, 16, 16)]
    compiled(data[0])
    loader = torch.utils.data.DataLoader(
        data, batch_size=2, num_workers=2, collate_fn=lambda batch: [compiled(x) for x in batch], timeout=60
    )
    made = [x for batch in loader for x in batch]
    for x, found in zip(data, made, strict=True):
        assert torch.allclose(found, (x.exp() + 1).log() * 2)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_waits_for_what_another_thread_compiles(dynamo, plugins, monkeypatch):
    from passhost.dynamo.options import LoadedPass

    def compiled(function):
        options = {"pass": str(plugins / "autofuse.wasm"), "check": False}
        return torch.compile(function, backend=dynamo.backend, options=options)

    def known(x):
        return (x.exp() + 1).log()

    def new(x):
        return (x.sin() + 1).cos()

    x, run = torch.randn(4, 8), compiled(known)
    run(x)
    entered, rewrite = threading.Event(), LoadedPass.rewrite

    def slow(*arguments):
        entered.set()
        time.sleep(0.5)
        return rewrite(*arguments)

    monkeypatch.setattr(LoadedPass, "rewrite", slow)
    thread = threading.Thread(target=lambda: compiled(lambda x: (x.tanh() + 1).sin())(x))
    thread.start()
    entered.wait()
    assert in_fork(lambda: torch.allclose(run(x), known(x)) and torch.allclose(compiled(new)(x), new(x)))
    thread.join()
    assert torch.allclose(compiled(new)(x), new(x))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_runs_what_another_thread_is_running(dynamo):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library

    library, entered, goes_on = Library(torch.device("cpu"), engine()[1]), threading.Event(), threading.Event()

    def prepare(*of):
        call = library.prepare(*of)

        def run(tensors):
            entered.set()
            goes_on.wait()
            return call(tensors)

        return run

    text = "graph(%x: f32[8]) {\n  %r: f32[8] = aten::mul.Scalar(%x, 3)\n  return (%r)\n}\n"
    program, x = engine()[0].Program(text, None, 1, prepare), torch.randn(8)
    thread = threading.Thread(target=program.run, args=([x],), daemon=True)
    thread.start()
    entered.wait()

    def right():
        goes_on.set()
        return all(torch.equal(program.run([x])[0], x * 3) for _ in range(2))

    assert in_fork(right) and thread.is_alive()
    assert right()
    thread.join()


def children():
    """Guest processes of this one."""
    found = set()
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "passhost-guest" and int(rest.split()[1]) == os.getpid():
            found.add(status.parent.name)
    return found


def test_a_rewrite_is_remembered_for_its_number_of_threads(dynamo, plugins):
    from passhost.dynamo.backend import engine
    from passhost.dynamo.library import Library
    from passhost.dynamo.options import LoadedPass

    loaded, types = LoadedPass(plugins / "autofuse.wasm", "open"), Library(torch.device("cpu"), engine()[1]).types
    before = torch.get_num_threads()
    try:
        rewrites = []
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            rewrites.append(loaded.rewrite(GRAPH, None, types))
    finally:
        torch.set_num_threads(before)
    assert rewrites[0] is rewrites[2] and rewrites[0] is not rewrites[1]


def test_the_backend_loads_no_client_of_http():
    lines = "import sys, passhost.dynamo; print(sorted({'httpx', 'websockets'} & {*sys.modules}))"
    asked = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert asked.stdout == "[]\n"
