"""`python -m passhost_extract kernelbench FOLDER`: the tasks of a benchmark as samples, each made by a sandboxed process of its own."""

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
_LEVELS = (1, 2, 3)
# Bytes of what a task may leave.
_LARGEST = 64 << 20
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_FILES = r"(model|weight_meta|input_meta|input_tensor_constraints)\.py|graph_net\.json|graph_hash\.txt"
_PATH = re.compile(rf"graph_list\.txt|graphs/({_PART}/){{1,6}}({_FILES})")
_WORDS = {"Memory": "takes too much memory", "Wall": "takes too long", "Scratch": "writes too much", "Tasks": "starts too many threads"}


@dataclass(frozen=True)
class Way:
    """How tasks are made into samples."""

    program: Path | None
    limits: Limits
    evaluation: bool
    small: bool


@dataclass(frozen=True)
class Made:
    """What became of a task: the files of a sample and a remark, or no files and the reason."""

    files: dict[str, str]
    remark: str


def tasks_of(folder: Path, level: int) -> list[Path]:
    """The files of a level's tasks, by their numbers."""
    for place in (folder / "KernelBench" / f"level{level}", folder / f"level{level}"):
        if found := [path for path in place.glob("*.py") if path.name[0].isdigit()]:
            return sorted(found, key=lambda path: (int(re.match(r"\d+", path.name)[0]), path.name))  # type: ignore[index]
    raise ExtractError(f"{folder} has no tasks in KernelBench/level{level}; it must be a clone of ScalingIntelligence/KernelBench")


def make(file: Path, way: Way) -> Made:
    """Have the sample of one task made."""
    name = check_folder_name(file.stem)
    options = [option for option, on in (("--evaluation", way.evaluation), ("--small", way.small)) if on]
    with tempfile.TemporaryDirectory(prefix="passhost-extract-") as scratch:
        folder = Path(scratch).resolve()
        source = file.resolve()
        ended = run(way.program, "passhost_extract.problem", [str(source), name, *options], [source], folder, way.limits)
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


def _made(file: Path, way: Way) -> Made:
    try:
        return make(file, way)
    except (AttributeError, ValueError) as error:
        return Made({}, f"the task left no sample: {error}")


def write_level(folder: Path, level: int, out: Path, way: Way, jobs: int) -> tuple[int, int]:
    """Make the samples of a level below `out`, print a line for each task, and write the list; how many were read, of how many."""
    tasks = tasks_of(folder, level)
    out.mkdir(parents=True, exist_ok=True)
    name = f"level{level}{'-small' if way.small else ''}"
    read = []
    with ThreadPoolExecutor(jobs) as threads:
        for task, made in zip(tasks, threads.map(lambda file: _made(file, way), tasks), strict=True):
            if made.files:
                written(out / name / task.stem, made.files)
                read.append(f"{name}/{task.stem}")
            how = ["read", made.remark] if made.files else [f"not read: {made.remark}"]
            print(f"{name}/{task.stem}: {', '.join(filter(None, how))}", flush=True)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in tasks)).hexdigest()
    sizes, mode = "smaller sizes" if way.small else "original sizes", "evaluation mode" if way.evaluation else "training mode"
    about = f"# KernelBench level {level}, {sizes}, {mode}: {len(read)} of {len(tasks)} tasks, whose files have SHA-256 {digest}\n"
    (out / f"kernelbench-{name}.txt").write_text(about + "".join(f"{sample}\n" for sample in read))
    return len(read), len(tasks)


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m passhost_extract kernelbench", description=DESCRIPTION)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--level", type=int, choices=_LEVELS, action="append", help="may be given several times; all if not given")
    parser.add_argument("--out", type=Path, default=Path("kernelbench"), help="the folder of samples and lists; kernelbench if not given")
    parser.add_argument("--small", action="store_true", help="sizes that a CPU runs, in place of the original ones")
    parser.add_argument("--evaluation", action="store_true", help="models in evaluation mode; as KernelBench has them if not given")
    jobs = min(8, os.cpu_count() or 1)
    parser.add_argument("--jobs", type=int, default=jobs, help="tasks at a time; one a core, at most 8, if not given")
    parser.add_argument("--limit-seconds", type=int, default=300, help="of a task; 300 if not given")
    parser.add_argument("--limit-memory", type=int, default=8, help="GiB of a task; 8 if not given")
    parser.add_argument("--inside-sandbox", action="store_true", help="a sandbox around this process confines the tasks")
    return parser


def main(arguments: list[str] | None = None) -> int:
    given = argument_parser().parse_args(arguments)
    try:
        program = None if given.inside_sandbox else builder()
        way = Way(program, Limits(given.limit_seconds, given.limit_memory << 30), given.evaluation, given.small)
        for level in given.level or _LEVELS:
            read, tasks = write_level(given.folder, level, given.out, way, given.jobs)
            print(f"level {level}: {read} of {tasks} read")
    except ExtractError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
