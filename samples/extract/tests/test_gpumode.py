"""`python -m passhost_extract gpumode`: problems of a competition, with a task.yml and a reference, and those that are refused by name."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from conftest import load_meta, load_module
from torch import Tensor

from passhost_extract import gpumode, problems
from passhost_extract.errors import ExtractError
from passhost_extract.large import FewRows, InPlace, Written, drawn_from

HAS_BUILDER = platform.system() == "Linux" and bool(os.environ.get("PASSHOST_PROGRAMS") or shutil.which("passhost"))
confined = pytest.mark.skipif(not HAS_BUILDER, reason="needs passhost-builder: PASSHOST_PROGRAMS=target/debug")

UTILS = """
    import os
    import torch

    class Determinism:
        def __enter__(self):
            os.environ["WORKSPACE"] = ":1"
            torch.use_deterministic_algorithms(True)

        def __exit__(self, *raised):
            torch.use_deterministic_algorithms(False)
"""
ROWS = """
    import torch
    from task import input_t
    from utils import Determinism

    def generate_input(size: int, seed: int) -> input_t:
        gen = torch.Generator(device='cuda')
        gen.manual_seed(seed)
        x = (torch.rand(size, size, device="cuda", generator=gen) * 2 + 1).contiguous()
        return x, (torch.empty(size, device="cuda:0"), {"weight": torch.ones(size).cuda(), "scale": 3.0, "mode": "sum"})

    def ref_kernel(data):
        with Determinism():
            x, (sums, config) = data
            sums[...] = x.to("cuda").sum(1)
            return sums, {"scaled": x * config["scale"] + config["weight"]}
"""
LAYERS = """
    import torch
    from torch import nn

    def generate_input(width):
        return torch.randn(4, width, device="cuda"), {"norm": torch.rand(width), "linear": torch.rand(3, width)}

    def ref_kernel(data):
        x, weights = data
        model = nn.Sequential(nn.LayerNorm(x.shape[1]), nn.Linear(x.shape[1], 3, bias=False)).to("cuda")
        model[0].weight = nn.Parameter(weights["norm"])
        model[1].weight = torch.nn.Parameter(weights["linear"])
        return model(x)
"""


def reference(ref_kernel: str, inputs: str = "torch.rand(size, device='cuda')", prepare: str = "") -> str:
    lines = ["import torch", prepare, f"def generate_input(size): return {inputs}", f"def ref_kernel(data): return {ref_kernel}"]
    return "\n".join(lines)


def put(folder: Path, name: str, text: str, **keys: Any) -> None:
    """A problem, with its modules where a checkout has them."""
    sources = {"submission.py": "@SUBMISSION@", "task.py": "task.py", "utils.py": "../utils.py", "reference.py": "reference.py"}
    files = [{"name": file, "source": source} for file, source in sources.items()]
    place = folder / "problems/set" / name
    place.mkdir(parents=True)
    (place / "task.yml").write_text(yaml.safe_dump({"files": files, "benchmarks": [{"size": 4}]} | keys))
    (place / "reference.py").write_text(textwrap.dedent(text))
    (place / "task.py").write_text("input_t = tuple")
    (place / "../utils.py").write_text(textwrap.dedent(UTILS))


def extract(folder: Path, *options: str) -> Path:
    out = folder / "out"
    assert problems.main("gpumode", [str(folder), "--out", str(out), *(options or ("--inside-sandbox",))]) == 0
    return out


def variants(sample: Path) -> list[tuple[torch.nn.Module, dict[str, dict[str, Any]]]]:
    """The graphs of a sample, and what is said of their inputs by name."""
    folders = [sample / line for line in (sample / "graph_list.txt").read_text().split()]
    return [(load_module(one / "model.py"), {meta["name"]: meta for meta in load_meta(one / "weight_meta.py")}) for one in folders]


def test_benchmarks_become_variants_that_compute_what_the_reference_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [{"size": size, "seed": 1} for size in (7, 9, 1 << 16, 11)]
    put(tmp_path, "rows", ROWS, benchmarks=sizes, tests=[{"size": 3, "seed": 1}])
    put(tmp_path, "tested", ROWS, benchmarks=[], tests=[{"size": 3, "seed": 1}])
    put(tmp_path, "layers", LAYERS, benchmarks=[{"width": 8}])
    out = extract(tmp_path, "--inside-sandbox", "--workloads", "3")
    assert capsys.readouterr().out.splitlines() == [
        "set/layers: read", "set/rows: read", "set/tested: read", f"{out}/gpumode.txt: 3 of 3 read"
    ]  # fmt: skip
    about, *listed = (out / "gpumode.txt").read_text().splitlines()
    assert about.startswith("# GPU MODE: 3 of 3 tasks, ") and listed == ["set/layers", "set/rows", "set/tested"]

    (small, first), *_, (_, large) = variants(out / "set/rows")
    assert [meta["L_data_0_"]["shape"] for _, meta in variants(out / "set/rows")] == [[7, 7], [9, 9], [1 << 16, 1 << 16]]
    # 16 GiB, of which few rows were made; memory that was only allocated holds zeros.
    assert abs(large["L_data_0_"]["mean"] - 2) < 1e-3 and abs(large["L_data_0_"]["std"] - 12**-0.5 * 2) < 1e-3
    assert {(meta["device"], meta["dtype"]) for meta in first.values()} == {("cpu", "torch.float32")}
    assert (first["L_data_1_0_"]["mean"], first["L_data_1_0_"]["std"], first["L_data_1_1_weight_"]["mean"]) == (0, 0, 1)
    given = {"L_data_0_": torch.rand(7, 7), "L_data_1_0_": torch.zeros(7), "L_data_1_1_weight_": torch.rand(7)}
    sums, scaled = small(**given)
    assert torch.equal(sums, given["L_data_0_"].sum(1)) and torch.equal(scaled, given["L_data_0_"] * 3 + given["L_data_1_1_weight_"])
    assert variants(out / "set/tested")[0][1]["L_data_0_"]["shape"] == [3, 3]

    ((layers, meta),) = variants(out / "set/layers")
    x, norm, linear = torch.rand(4, 8), torch.rand(8), torch.rand(3, 8)
    (found,) = layers(**dict(zip(("L_data_0_", "L_data_1_norm_", "L_data_1_linear_"), (x, norm, linear), strict=True)))
    assert len(meta) == 3 and torch.equal(found, torch.nn.functional.layer_norm(x, (8,), norm) @ linear.T)


OUTSIDE = [{"name": name, "source": source} for name, source in {"reference.py": "reference.py", "utils.py": "../../../own.py"}.items()]
# A problem, what its task.yml says otherwise, and why it isn't read.
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "devices": (reference("data"), {"multi_gpu": True}, "the problem takes several GPUs (multi_gpu), and a sample is one graph on one"),
    "float8": (reference("data.float()", "torch.rand(size).to(torch.float8_e4m3fn)"), {}, "an input is of type torch.float8_e4m3fn, which"),
    "functions": (reference("data").replace("ref_kernel", "forward"), {}, "reference.py has no function ref_kernel; extract"),
    "large": (
        reference("data + 1", "torch.ones(1 << 17, 1) @ torch.ones(1, 1 << 17)"),
        {},
        "inputs of {'size': 4} take more than 3072 MiB",
    ),
    "modules": (reference("data", prepare="import not_a_module_of_torch"), {}, "reference.py needs the module 'not_a_module_of_torch'"),
    "none": (reference("data"), {"benchmarks": []}, "task.yml has neither benchmarks nor tests, whose arguments would be variants"),
    "outside": (
        reference("data"),
        {"files": OUTSIDE},
        "task.yml names own.py, which is no file in the given folder; give a whole checkout",
    ),
    "random": (reference("data + torch.rand(4)"), {}, "random: %rand = torch.rand(4) draws random numbers, and a sample must give"),
    "unset": (reference("torch.nn.Linear(4, 2)(data)"), {}, "unset: %uniform_ = .uniform_(empty, "),
    "values": (reference("data if data.max() > 1 else -data"), {}, "ref_kernel can't be captured as one graph: Data-dependent branching"),
}


def test_what_a_sample_cannot_say_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.py").write_text("raise ValueError('it ran')")
    checkout = tmp_path / "checkout"
    for name, (text, keys, _) in REFUSED.items():
        put(checkout, name, text, **keys)
    extract(checkout, "--inside-sandbox", "--limit-memory", "3")
    said = capsys.readouterr().out.splitlines()
    for line, (name, (_, _, reason)) in zip(said, REFUSED.items(), strict=False):
        assert line.startswith(f"set/{name}: not read: {reason}"), line
    assert said[-1] == f"{checkout}/out/gpumode.txt: 0 of {len(REFUSED)} read"


FILES = "files: [{name: reference.py, source: reference.py}]"
# A task.yml, and what is wrong with it.
MALFORMED = {
    "{": "can't be read as YAML; correct it: ",
    "[" * 100_000: "can't be read as YAML; correct it: ",
    "- files": "must be a mapping with files",
    "files: reference.py": "files of task.yml must be a list of mappings",
    "files: [{name: reference.py, source: [a]}]": "a file of task.yml must have a name and a source, both of them text",
    "files: [{name: ../reference.py, source: reference.py}]": "task.yml has no reference.py among its files",
    "files: [{name: reference.py, source: '@SUBMISSION@'}]": "task.yml has no reference.py among its files",
    f"{FILES}\nbenchmarks: [4]": "benchmarks of task.yml must be a list of mappings",
    f"{FILES}\ntests: [{{4: 4}}]": "tests of task.yml must be a list of mappings",
    " " * (1 << 20) + FILES: "task.yml has more than 1048576 bytes",
}


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_task_says_what_is_wrong(text: str, tmp_path: Path) -> None:
    (tmp_path / "task.yml").write_text(text)
    with pytest.raises(ExtractError) as raised:
        gpumode.described(tmp_path / "task.yml", yaml.SafeLoader)
    assert MALFORMED[text] in str(raised.value)


def test_only_files_of_the_checkout_are_given_to_a_problem(tmp_path: Path) -> None:
    put(tmp_path / "checkout", "links", reference("data"))
    task = tmp_path / "checkout/problems/set/links/task.yml"
    names = [path.name for path in gpumode.modules(task, tmp_path / "checkout")]
    assert names == ["task.py", "utils.py", "reference.py"]
    (tmp_path / "own.py").touch()
    task.with_name("task.py").unlink()
    task.with_name("task.py").symlink_to(tmp_path / "own.py")
    with pytest.raises(ExtractError, match=r"names own\.py, which is no file in the given folder"):
        gpumode.modules(task, tmp_path / "checkout")


# One problem's reference reads that of another, which a sandboxed process can't.
NEIGHBOUR = "import os; open(os.path.join({folder!r}, 'problems/set/good/reference.py'))"


@confined
def test_a_sandboxed_problem_reads_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "good", ROWS, benchmarks=[{"size": 5, "seed": 1}])
    put(tmp_path, "tries", reference("data", prepare=NEIGHBOUR.format(folder=str(tmp_path))))
    out = extract(tmp_path, "--jobs", "1")
    read, refused, _ = capsys.readouterr().out.splitlines()
    assert read == "set/good: read" and refused.startswith("set/tries: not read: PermissionError: ")
    assert (out / "gpumode.txt").read_text().splitlines()[1:] == ["set/good"]


def test_without_yaml_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "passhost_extract.gpumode")
    assert problems.main("gpumode", [str(tmp_path), "--inside-sandbox"]) == 1
    assert "a task.yml is read with yaml, which is not installed; `pip install pyyaml`" in capsys.readouterr().err


def test_what_is_no_checkout_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems.main("gpumode", [str(tmp_path), "--inside-sandbox"]) == 1
    assert "has no task.yml below problems; it must be a clone of gpu-mode/reference-kernels" in capsys.readouterr().err


def test_what_is_computed_from_few_rows_takes_few_rows() -> None:
    with FewRows():
        x = torch.rand(1 << 16, 1 << 16)
        large: dict[str, Tensor] = {
            "scaled": (x * 2 + 1).contiguous(),
            "cast": (x < 0.25).to(torch.int32),
            "turned": x.T - x.T,
            "like": torch.ones_like(x),
        }
    means = {name: drawn_from(value).double().mean().item() for name, value in large.items()}
    assert all(value.shape == (1 << 16, 1 << 16) and drawn_from(value).numel() == 1 << 22 for value in large.values())
    assert means == pytest.approx({"scaled": 2, "cast": 0.25, "turned": 0, "like": 1}, abs=1e-3)
    with FewRows():
        # Each element has its own position here, and rows are no longer alike.
        y = torch.rand(1 << 12, 1 << 12)
        assert (drawn_from(y + y.T).numel(), drawn_from(y.cumsum(0)).numel()) == (1 << 24, 1 << 24)


def test_writing_to_few_rows_fails_and_to_new_memory_is_noticed() -> None:
    with Written(few=True) as written:
        blank, filled = torch.empty(4), torch.empty(4)
        filled[1:].uniform_()
        assert (written.blank(blank), written.blank(blank[2:]), written.blank(filled)) == (True, True, False)
        with pytest.raises(InPlace):
            torch.rand(1 << 23)[5] = 1
    with Written(few=False):
        x = torch.rand(1 << 23)
        x[5] = 7
        assert x.max() == 7 and drawn_from(x) is x
