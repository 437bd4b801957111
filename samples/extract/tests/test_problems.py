"""`python -m passhost_extract kernelbench`: tasks of a benchmark, each sandboxed, and what is said of those that aren't read."""

from __future__ import annotations

import json
import os
import platform
import shutil
import textwrap
from pathlib import Path

import pytest
import torch
from conftest import load_meta, load_module

from passhost_extract import problem, problems, sandbox
from passhost_extract.capture import capture_training, capture_unrun
from passhost_extract.errors import ExtractError
from passhost_extract.large import FewRows, drawn_from
from passhost_extract.model_text import model_text
from passhost_extract.plain import target_name

HAS_BUILDER = platform.system() == "Linux" and bool(os.environ.get("PASSHOST_PROGRAMS") or shutil.which("passhost"))
confined = pytest.mark.skipif(not HAS_BUILDER, reason="needs passhost-builder: PASSHOST_PROGRAMS=target/debug")

NORMED = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self, features):
            super().__init__()
            self.linear = torch.nn.Linear(features, features)
            self.norm = torch.nn.BatchNorm1d(features)

        def forward(self, x):
            return self.norm(self.linear(x)).relu_()

    batch = 1 << 22
    features = 320
    rows = batch * 2

    def get_inputs():
        return [torch.rand(rows, features)]

    def get_init_inputs():
        return [features]
"""


def put(folder: Path, name: str, text: str, level: int = 1) -> Path:
    path = folder / "KernelBench" / f"level{level}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def task(forward: str, prepare: str = "") -> str:
    lines = ["import torch", prepare, "class Model(torch.nn.Module):", f"    def forward(self, x): {forward}"]
    return "\n".join([*lines, "def get_inputs(): return [torch.rand(4, 8)]", "def get_init_inputs(): return []"])


def test_large_tensors_keep_their_statistics_and_no_memory() -> None:
    with FewRows():
        random, ones, few = torch.rand(1 << 20, 1 << 20), torch.ones(1 << 40), torch.rand(3, 3)
    assert random.shape == (1 << 20, 1 << 20) and ones[1 << 39] == 1 and drawn_from(few) is few
    assert abs(drawn_from(random).mean().item() - 0.5) < 1e-3 and drawn_from(ones).numel() == 1 << 22


def test_a_graph_is_the_same_whether_it_runs_or_not(gated: torch.nn.Module) -> None:
    gated.train()
    x = torch.randn(4, 8)
    ran, unrun = capture_training(gated, x), capture_unrun(gated, x)
    assert model_text(ran.graph_module.graph) == model_text(unrun.graph_module.graph)
    assert all(torch.equal(one, other) for one, other in zip(ran.inputs, unrun.inputs, strict=True))
    assert (unrun.outputs, unrun.random) == (None, frozenset())
    drawing = capture_unrun(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5)), x)
    assert [target_name(node) for node in drawing.random] == ["torch.nn.functional.dropout"]


def test_a_task_of_terabytes_is_read_in_its_original_size(tmp_path: Path) -> None:
    file = put(tmp_path, "1_Normed.py", NORMED)
    files, remark = problem.extracted(file, "1_Normed", evaluation=False, small=False)
    (folder,) = files["graph_list.txt"].split()
    (tmp_path / "meta.py").write_text(files[f"{folder}/weight_meta.py"])
    x = next(one for one in load_meta(tmp_path / "meta.py") if one["name"] == "L_x_")
    assert x["shape"] == [1 << 23, 320] and abs(x["mean"] - 0.5) < 1e-3 and remark == ""
    assert "True, 0.1, 1e-05" in files[f"{folder}/model.py"], "a batch norm in training mode"
    evaluated, _ = problem.extracted(file, "1_Normed", evaluation=True, small=False)
    assert "False, 0.1, 1e-05" in evaluated[f"{folder}/model.py"]


def test_small_sizes_follow_from_each_other_and_run(tmp_path: Path) -> None:
    file = put(tmp_path, "1_Normed.py", NORMED)
    files, _ = problem.extracted(file, "1_Normed", evaluation=False, small=True)
    (folder,) = files["graph_list.txt"].split()
    assert json.loads(files[f"{folder}/graph_net.json"])["model_options"] == {"batch": 16, "features": 10}
    for name in ("model.py", "weight_meta.py"):
        (tmp_path / name).write_text(files[f"{folder}/{name}"])
    inputs = [torch.rand(one["shape"]) for one in load_meta(tmp_path / "weight_meta.py")]
    assert load_module(tmp_path / "model.py")(*inputs)[0].shape == (32, 10)


def test_what_draws_in_training_is_taken_in_evaluation_and_said(tmp_path: Path) -> None:
    text = task("return torch.nn.functional.dropout(x.exp(), 0.5, self.training)")
    files, remark = problem.extracted(put(tmp_path, "1_Dropout.py", text), "1_Dropout", evaluation=False, small=False)
    assert remark == "in evaluation mode: it draws random numbers in training mode" and len(files) == 7
    with pytest.raises(ExtractError, match="draws random numbers"):
        problem.extracted(put(tmp_path, "2_Noise.py", task("return x + torch.rand(8)")), "2_Noise", evaluation=False, small=False)


# What a task tries, all of which must fail: files of others, its neighbours and itself, the network, and other processes.
ATTEMPTS = """
import os, socket
def tried(attempt):
    try: attempt()
    except PermissionError: return 0
    return 1
through = [at for at, attempt in enumerate([
    lambda: open('/etc/passwd'), lambda: open(__file__.replace('1_tries', '2_hoards')), lambda: open(__file__, 'a'),
    lambda: os.listdir(os.path.dirname(__file__)), lambda: open('/proc/1/environ'), lambda: os.kill(os.getppid(), 0),
    lambda: socket.create_connection(('127.0.0.1', 9)), lambda: os.posix_spawn('/bin/true', ['true'], {}), lambda: os.fork(),
]) if tried(attempt)]
raise ValueError(f'\x1b[31mthrough: {through}\u202e')
"""
ELSEWHERE = "import os; open('sample.json', 'w').write('{\"graphs/../../model.py\": \"\"}'); os._exit(0)"
LINK = "import os; os.symlink('/etc/passwd', 'sample.json'); open('reason.txt', 'w').close(); os._exit(0)"
HOSTILE = {
    "1_tries.py": (ATTEMPTS, "not read: ValueError: ?[31mthrough: []?"),
    "2_hoards.py": ("kept = bytearray(b'x') * (3 << 30)", "not read: takes too much memory"),
    "3_floods.py": ("open('flood', 'wb').write(bytes(257 << 20))", "not read: writes too much"),
    "4_links.py": (LINK, "not read: PermissionError: "),
    "5_elsewhere.py": (ELSEWHERE, "not read: the task left no sample: a file that none has: 'graphs/../../model.py'"),
    # A convolution of half types asks what the processor can do.
    "10_behaves.py": ("torch.nn.Conv2d(8, 8, 1).half()(torch.rand(1, 8, 4, 4).half())", "read"),
}


@confined
def test_a_task_reaches_nothing_but_torch_and_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, (prepare, _) in HOSTILE.items():
        put(tmp_path, name, task("return x.exp()", prepare), level=2)
    assert problems.main("kernelbench", [str(tmp_path), "--level", "2", "--out", str(tmp_path / "out"), "--limit-memory", "2"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"{tmp_path}/out/kernelbench-level2.txt: 1 of 6 read"
    for line, (name, (_, expected)) in zip(said, HOSTILE.items(), strict=False):
        assert line.startswith(f"level2/{Path(name).stem}: {expected}") and "\x1b" not in line, line
    about, *listed = (tmp_path / "out/kernelbench-level2.txt").read_text().splitlines()
    assert about.startswith("# KernelBench level 2, original sizes, training mode: 1 of 6 tasks, ")
    assert listed == ["level2/10_behaves"] and (tmp_path / "out" / listed[0] / "graph_list.txt").exists()


def test_a_link_that_a_task_left_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert [problems._left(tmp_path / name) for name in ("file", "link", "pipe")] == ["{}", "", ""]


@confined
def test_a_task_that_waits_is_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "1_waits.py", task("return x.exp()", "import time; time.sleep(600)"))
    assert problems.main("kernelbench", [str(tmp_path), "--level", "1", "--out", str(tmp_path / "out"), "--limit-seconds", "5"]) == 0
    assert capsys.readouterr().out.startswith("level1/1_waits: not read: takes too long\n")


def test_without_a_sandbox_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "1_Marks.py", task("return x.exp()", f"open({str(tmp_path / 'ran')!r}, 'w').close()"))
    monkeypatch.delenv("PASSHOST_PROGRAMS", raising=False)
    monkeypatch.setenv("PATH", "")
    arguments = [str(tmp_path), "--level", "1", "--out", str(tmp_path / "out")]
    assert problems.main("kernelbench", arguments) == 1 and not (tmp_path / "ran").exists()
    assert "`passhost-builder`, which confines it, is not beside a `passhost` on PATH" in capsys.readouterr().err
    assert problems.main("kernelbench", [*arguments, "--inside-sandbox"]) == 0 and (tmp_path / "ran").exists()
    assert capsys.readouterr().out == f"level1/1_Marks: read\n{tmp_path}/out/kernelbench-level1.txt: 1 of 1 read\n"


def test_a_kernel_that_confines_too_little_is_refused_by_name(tmp_path: Path) -> None:
    program = tmp_path / "passhost-builder"
    program.write_text('#!/bin/sh\nread order\necho \'{"Ready":{"seccomp":true,"landlock":null}}\'\necho \'{"Ended":{"Exited":1}}\'\n')
    program.chmod(0o700)
    (tmp_path / "scratch").mkdir()
    with pytest.raises(ExtractError, match="no seccomp or no Landlock"):
        sandbox.run(program, "passhost_extract.problem", [], [], tmp_path / "scratch", sandbox.Limits(1, 1))


def test_what_is_no_clone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems.main("kernelbench", [str(tmp_path), "--inside-sandbox"]) == 1
    assert "has no tasks in KernelBench/level1; it must be a clone of" in capsys.readouterr().err


DEFINITION = {
    "axes": {
        "rows": {"type": "var"},
        "width": {"type": "const", "value": 64},
        "all": {"type": "expr", "expression": "rows * width"},
    },
    "inputs": {
        "x": {"shape": ["rows", "width"], "dtype": "bfloat16"},
        "index": {"shape": ["all"], "dtype": "int64"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "custom_inputs_entrypoint": "indices",
    "reference": """
import torch

def indices(axes, device):
    return {"index": torch.randint(0, axes["all"], (axes["all"],), device=device)}

@torch.no_grad()
def run(x, index, eps):
    rows, width = x.shape
    assert width == 64
    return (x.float() + eps).flatten()[index].to(x.dtype)
""",
}


def workload(rows: int, **inputs: str) -> str:
    how = {"x": {"type": "random"}, "index": {"type": "custom"}, "eps": {"type": "scalar", "value": 1e-5}}
    return json.dumps({"axes": {"rows": rows}, "inputs": how | {name: {"type": value} for name, value in inputs.items()}}) + "\n"


def test_a_definition_has_a_variant_for_each_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside, apart = tmp_path / "gather", tmp_path / "set"
    for folder in (beside, apart / "definitions/ops", apart / "workloads/ops"):
        folder.mkdir(parents=True)
    (beside / "definition.json").write_text(json.dumps(DEFINITION))
    (beside / "workload.jsonl").write_text(workload(7) + workload(9) + workload(11))
    (apart / "definitions/ops/other.json").write_text(json.dumps(DEFINITION))
    (apart / "workloads/ops/other.jsonl").write_text(workload(7, x="safetensors"))
    arguments = [str(tmp_path), "--out", str(tmp_path / "out"), "--workloads", "2", "--inside-sandbox"]
    assert problems.main("definitions", arguments) == 0
    assert capsys.readouterr().out.splitlines() == [
        "gather: read",
        "set/definitions/ops/other: not read: the values of x are in a file of safetensors, which a sandboxed task can't read",
        f"{tmp_path}/out/definitions.txt: 1 of 2 read",
    ]
    folders = (tmp_path / "out/gather/graph_list.txt").read_text().splitlines()
    shapes = [{one["name"]: one["shape"] for one in load_meta(tmp_path / "out/gather" / folder / "weight_meta.py")} for folder in folders]
    assert [one["L_x_"] for one in shapes] == [[7, 64], [9, 64]] and shapes[1]["L_index_"] == [576]
