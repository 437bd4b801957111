"""`python -m passhost_extract kernelbench FOLDER`, `definitions FOLDER`, `gpumode FOLDER`: tasks of benchmarks as samples, by sandboxed
processes."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import stat
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .errors import ExtractError
from .problem import REASON, SAMPLE
from .provenance import check_folder_name
from .sandbox import Limits, builder, run
from .task import written

DESCRIPTION = """\
Make samples of KernelBench's tasks, in their original sizes and without running them, and a list of those of each level. FOLDER is a
clone of github.com/ScalingIntelligence/KernelBench. Each task is executed by a process of its own, sandboxed, without network.
"""
DEFINITIONS = """\
Make samples of the definitions below FOLDER, and a list of them: JSON files with a reference in Python and lines of workloads, as those
of SOL-ExecBench (definition.json, workload.jsonl) and FlashInfer-Bench (definitions/, workloads/). A workload becomes a variant. Each
reference is executed by a process of its own, sandboxed, without network.
"""
GPUMODE = """\
Make samples of the problems of GPU MODE's competitions, and a list of them. FOLDER is a clone of github.com/gpu-mode/reference-kernels.
The arguments of a problem's benchmarks become variants. Each reference is executed by a process of its own, sandboxed, without network.
"""
_ABOUT = {"kernelbench": DESCRIPTION, "definitions": DEFINITIONS, "gpumode": GPUMODE}
_LEVELS = (1, 2, 3)
# Bytes of what a task may leave.
_LARGEST = 64 << 20
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_FILES = r"(model|weight_meta|input_meta|input_tensor_constraints)\.py|graph_net\.json|graph_hash\.txt"
_PATH = re.compile(rf"graph_list\.txt|graphs/({_PART}/){{1,6}}({_FILES})")
_WORDS = {"Memory": "takes too much memory", "Wall": "takes too long", "Scratch": "writes too much", "Tasks": "starts too many threads"}


@dataclass(frozen=True)
class Problem:
    """A task: its sample's path in a list, its files, what else the process that makes the sample is told, and if there is a reason to
    start none, that."""

    sample: str
    file: Path
    beside: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Way:
    """How tasks are made into samples."""

    program: Path | None
    limits: Limits
    jobs: int


@dataclass(frozen=True)
class Made:
    """What became of a task: the files of a sample and a remark, or no files and the reason."""

    files: dict[str, str]
    remark: str


def kernelbench(folder: Path, level: int, options: tuple[str, ...]) -> list[Problem]:
    """The tasks of a level, by their numbers."""
    name = f"level{level}{'-small' if '--small' in options else ''}"
    for place in (folder / "KernelBench" / f"level{level}", folder / f"level{level}"):
        if found := [path for path in place.glob("*.py") if path.name[0].isdigit()]:
            found.sort(key=lambda path: (int(path.name.split("_")[0]), path.name))
            return [Problem(f"{name}/{path.stem}", path, options=options) for path in found]
    raise ExtractError(f"{folder} has no tasks in KernelBench/level{level}; it must be a clone of ScalingIntelligence/KernelBench")


def definitions(folder: Path, most: int) -> list[Problem]:
    """The definitions below a folder that have workloads, by their paths."""

    def problem(sample: Path, path: Path, workloads: Path) -> Problem:
        options = ("--most", str(most), "--workloads", str(workloads.resolve()))
        return Problem(str(sample.relative_to(folder)), path, (workloads,), options)

    found = [problem(path.parent, path, path.with_name("workload.jsonl")) for path in folder.rglob("definition.json")]
    for place in folder.rglob("definitions"):
        lists = {path.stem: path for path in place.with_name("workloads").rglob("*.jsonl")}
        paths = [path for path in place.rglob("*.json") if path.stem in lists]
        found += [problem(path.with_suffix(""), path, lists[path.stem]) for path in paths]
    if not found:
        raise ExtractError(f"{folder} has no definition.json, and no folder of definitions beside one of workloads")
    return sorted(found, key=lambda problem: problem.sample)


def gpumode(folder: Path, most: int, memory: int) -> list[Problem]:
    """The problems of GPU MODE below a folder, by their paths."""
    try:
        from .gpumode import modules
    except ModuleNotFoundError as error:
        raise ExtractError(f"a task.yml is read with {error.name}, which is not installed; `pip install pyyaml`") from error

    def problem(path: Path) -> Problem:
        sample = str(path.parent.relative_to(top))
        try:
            return Problem(sample, path, modules(path, folder), ("--most", str(most), "--memory", str(memory)))
        except ExtractError as error:
            return Problem(sample, path, refused=str(error))

    top = folder / "problems"
    if not (found := sorted(top.rglob("task.yml"))):
        raise ExtractError(f"{folder} has no task.yml below problems; it must be a clone of gpu-mode/reference-kernels")
    return [problem(path) for path in found]


def make(problem: Problem, way: Way) -> Made:
    """Have the sample of one task made."""
    if problem.refused:
        return Made({}, _line(problem.refused))
    name = check_folder_name(problem.sample.rpartition("/")[2])
    files = [path.resolve() for path in (problem.file, *problem.beside)]
    with tempfile.TemporaryDirectory(prefix="passhost-extract-") as scratch:
        folder = Path(scratch).resolve()
        ended = run(way.program, "passhost_extract.problem", [str(files[0]), name, *problem.options], files, folder, way.limits)
        left = _line(_left(folder / REASON))
        if ended.how == 0:
            return Made(_files(_left(folder / SAMPLE)), left)
        reason = left or _line(ended.printed.strip().rpartition("\n")[2])
        return Made({}, _WORDS.get(ended.how, str(ended.how)) if isinstance(ended.how, str) else reason or f"status {ended.how}")


def _line(text: str) -> str:
    """The beginning of a text that a task wrote, as one line that a terminal can show."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split())[:300])


def _files(text: str) -> dict[str, str]:
    """The files of a sample, whoever wrote this text."""
    files = json.loads(text)
    for path, content in files.items():
        if not _PATH.fullmatch(path) or not isinstance(content, str):
            raise ValueError(f"a file that none has: {path!r}")
    return dict(files)


def _left(path: Path) -> str:
    """The text of a file that a task left; it may have left anything there."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(_LARGEST).decode(errors="replace") if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except OSError:
        return ""


def _made(problem: Problem, way: Way) -> Made:
    try:
        return make(problem, way)
    except (AttributeError, ValueError) as error:
        return Made({}, f"the task left no sample: {error}")


def write(problems: list[Problem], name: str, about: str, out: Path, way: Way) -> None:
    """Make the samples below `out`, print a line for each task, and write the list of those that were made."""
    out.mkdir(parents=True, exist_ok=True)
    read = []
    with ThreadPoolExecutor(way.jobs) as threads:
        for problem, made in zip(problems, threads.map(lambda problem: _made(problem, way), problems), strict=True):
            if made.files:
                written(out / problem.sample, made.files)
                read.append(problem.sample)
            how = ["read", made.remark] if made.files else [f"not read: {made.remark}"]
            print(f"{problem.sample}: {', '.join(filter(None, how))}", flush=True)
    files = [path for problem in problems for path in (problem.file, *problem.beside)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    title = f"# {about}: {len(read)} of {len(problems)} tasks, whose files have SHA-256 {digest}\n"
    (out / f"{name}.txt").write_text(title + "".join(f"{sample}\n" for sample in read))
    print(f"{out / name}.txt: {len(read)} of {len(problems)} read")


def argument_parser(which: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f"python -m passhost_extract {which}", description=_ABOUT[which])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--out", type=Path, default=Path(which), help=f"the folder of samples and lists; {which} if not given")
    if which == "kernelbench":
        parser.add_argument("--level", type=int, choices=_LEVELS, action="append", help="may be given several times; all if not given")
        parser.add_argument("--small", action="store_true", help="sizes that a CPU runs, in place of the original ones")
        parser.add_argument("--evaluation", action="store_true", help="models in evaluation mode; as KernelBench has them if not given")
    else:
        parser.add_argument("--workloads", type=int, default=4, help="of a task, the first ones; 4 if not given")
    jobs = min(8, os.cpu_count() or 1)
    parser.add_argument("--jobs", type=int, default=jobs, help="tasks at a time; one a core, at most 8, if not given")
    parser.add_argument("--limit-seconds", type=int, default=300, help="of a task; 300 if not given")
    parser.add_argument("--limit-memory", type=int, default=8, help="GiB of a task; 8 if not given")
    parser.add_argument("--inside-sandbox", action="store_true", help="a sandbox around this process confines the tasks")
    return parser


def main(which: str, arguments: list[str]) -> int:
    given = argument_parser(which).parse_args(arguments)
    try:
        program = None if given.inside_sandbox else builder()
        way = Way(program, Limits(given.limit_seconds, given.limit_memory << 30), given.jobs)
        if which == "definitions":
            write(definitions(given.folder, given.workloads), which, "Definitions", given.out, way)
            return 0
        if which == "gpumode":
            write(gpumode(given.folder, given.workloads, way.limits.memory), which, "GPU MODE", given.out, way)
            return 0
        options = tuple(option for option, on in (("--evaluation", given.evaluation), ("--small", given.small)) if on)
        how = f"{'smaller' if given.small else 'original'} sizes, {'evaluation' if given.evaluation else 'training'} mode"
        for level in given.level or _LEVELS:
            name = f"kernelbench-level{level}{'-small' if given.small else ''}"
            write(kernelbench(given.folder, level, options), name, f"KernelBench level {level}, {how}", given.out, way)
    except ExtractError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
