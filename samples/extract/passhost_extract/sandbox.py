"""Python that nobody trusts, in a process of its own.

`passhost-builder` confines it as it does a compiler of Rust: it reads Python, torch and what it is given, writes one folder, and has no
network, no program but Python, and limits of memory, time and files.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .errors import ExtractError

# What a process needs that it isn't started with.
_VARIABLES = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1", "USER": "task"}
# Bytes that it may write, and threads that it may start.
_SCRATCH, _TASKS = 256 << 20, 64
# What the processor can do, and how many there are: convolutions of half types ask.
_PROCESSORS = [f"/sys/devices/system/cpu/{name}" for name in ("kernel_max", "possible", "present")]
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom", "/proc/cpuinfo", *_PROCESSORS)


@dataclass(frozen=True)
class Limits:
    """Of one process: seconds by the clock, and bytes of memory."""

    seconds: int
    memory: int


def builder() -> Path:
    """The program that confines, beside `passhost`: in the wheel, or a clone or installation.

    Raises `ExtractError` when there is none.
    """
    wheel = Path(__file__).parent.parent / "passhost/programs"
    folders = [os.environ.get("PASSHOST_PROGRAMS"), Path(shutil.which("passhost") or "").parent, wheel]
    for found in (Path(folder) / "passhost-builder" for folder in folders if folder):
        if found.exists():
            return found.absolute()
    raise ExtractError(
        "a task is a program of others, and `passhost-builder`, which confines it, is not beside a `passhost` on PATH nor in "
        "PASSHOST_PROGRAMS; build it with `make build`, or say --inside-sandbox where a sandbox around this process confines it"
    )


@dataclass(frozen=True)
class Ended:
    """How a process ended: its status, or what it was stopped for; and the last that it printed."""

    how: int | str
    printed: str


def run(program: Path | None, module: str, arguments: Sequence[str], readable: Sequence[Path], folder: Path, limits: Limits) -> Ended:
    """Run a module of this package in `folder`.

    Where `program` is None, nothing but time is limited: something else confines this process.

    Raises `ExtractError` when it can't be confined.
    """
    command = [sys.executable, "-m", module, *arguments]
    # Python lists folders that it imports from, and what lies beside this package is none of a task's business.
    (folder / "packages").mkdir()
    (folder / "packages" / __package__).symlink_to(Path(__file__).parent)
    variables = _VARIABLES | {"TMPDIR": str(folder), "PYTHONPATH": str(folder / "packages")}
    if program is None:
        with tempfile.TemporaryFile() as printed:
            try:
                ended = subprocess.run(
                    command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, timeout=limits.seconds
                )
            except subprocess.TimeoutExpired:
                return Ended("Wall", "")
            return Ended(ended.returncode, _last(printed))
    order = {
        "program": command[0],
        "arguments": command[1:],
        "variables": list(variables.items()),
        "directory": str(folder),
        "whole": str(folder),
        "reach": {"programs": _programs(), "readable": [*_libraries(), *map(str, readable)], "scratch": str(folder)},
        "limits": {"wall_ms": limits.seconds * 1000, "memory": limits.memory, "scratch": _SCRATCH, "tasks": _TASKS},
        "confinement_required": True,
    }
    with tempfile.TemporaryFile() as printed:
        return Ended(_ordered(program, order, printed), _last(printed))


def _last(printed: IO[bytes]) -> str:
    """The end of what was printed."""
    printed.seek(max(0, printed.seek(0, os.SEEK_END) - 2000))
    return printed.read().decode(errors="replace")


def _ordered(program: Path, order: dict[str, object], printed: IO[bytes]) -> int | str:
    # Its standard input stays open until it has answered: that it is closed means stop.
    pipe = subprocess.PIPE
    with subprocess.Popen([program, "json"], stdin=pipe, stdout=pipe, stderr=printed, env={}, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        answers = [json.loads(line) for line in process.stdout]
    for answer in answers:
        match answer:
            case {"Ready": {"seccomp": True, "landlock": int()}}:
                continue
            case {"Ready": _}:
                raise ExtractError(
                    "this kernel has no seccomp or no Landlock, so that nothing confines a task, which is a program of others; say "
                    "--inside-sandbox where a sandbox around this process does"
                )
            case {"Ended": {"Exited": status}}:
                return int(status)
            case {"Ended": {"Killed": signal}}:
                return f"killed by signal {signal}"
            case {"Ended": {"Limit": limit}}:
                return str(limit)
    raise ExtractError(f"passhost-builder can't confine a task: {answers or 'no answer'}")


def _programs() -> list[str]:
    loaders = [os.path.realpath(path) for folder in ("/lib", "/lib64") for path in Path(folder).glob("ld-linux-*")]
    return [sys.executable, os.path.realpath(sys.executable), *loaders]


def _libraries() -> list[str]:
    """Python's own files and those of packages."""
    paths = sysconfig.get_paths()
    own = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    settings = str(Path(sys.prefix) / "pyvenv.cfg")
    packages = [path for path in [*site.getsitepackages(), *own] if path]
    return [*dict.fromkeys(packages), settings, str(Path(__file__).parent), *_SYSTEM]
