"""`python -m passhost_extract.problem FILE NAME`: one task of a benchmark, as a sample in `sample.json` of the current folder.

This runs what the file says. `problems` starts it once for each task, sandboxed.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from .capture import Capture, capture_unrun
from .definition import defined
from .errors import ExtractError
from .large import FewRows
from .named_model import Returned, build, load
from .provenance import Provenance
from .task import Task

# What a task becomes in the folder that it may write to: its files, or why there are none.
SAMPLE, REASON = "sample.json", "reason.txt"
# Numbers above the first of these are halved until they aren't; where a task can't be traced so, above the next.
_SMALL = (16, 32, 64, 128, 256)

Call = tuple[Capture, torch.nn.Module, tuple[Any, ...], dict[str, Any]]


def extracted(file: Path, name: str, *, evaluation: bool, small: bool) -> tuple[dict[str, str], str]:
    """The files of the sample, and a remark: empty, or in which other way than asked for the task was traced.

    A task is traced in training mode, as it is made; one that draws random numbers there, and any if `evaluation` is set, without.
    """
    failed: Exception = ExtractError(f"{file.name} has no number at its top level that could be smaller")
    for numbers in _smaller(file) if small else iter([{}]):
        try:
            call = _traced(file, numbers, training=not evaluation)
            remark = ""
            if call[0].random and not evaluation:
                call, remark = _traced(file, numbers, training=False), "in evaluation mode: it draws random numbers in training mode"
            captured, model, args, kwargs = call
            task = Task(name, Provenance(name, source="KernelBench", model_options=numbers), training=True)
            task.add_captured(captured, model, *args, **kwargs)
            return task.files(), remark
        except (ExtractError, RuntimeError, ValueError) as error:
            failed = error
    raise failed


def _traced(file: Path, numbers: dict[str, Any], *, training: bool) -> Call:
    torch.manual_seed(0)
    module, name = load(f"{file}:Model", numbers)
    positional, options = Returned("get_init_inputs").arguments(module)
    model = build(file.name, module, name, positional, options, training)
    with FewRows():  # type: ignore[no-untyped-call]
        args, kwargs = Returned("get_inputs").arguments(module)
    return capture_unrun(model, *args, **kwargs), model, tuple(args), kwargs


def _smaller(file: Path) -> Iterator[dict[str, Any]]:
    """Smaller numbers for those that stand in the text of `file` at its top level, the smallest first."""
    module, _ = load(f"{file}:Model", {})
    statements = [one for one in ast.parse(file.read_bytes()).body if isinstance(one, ast.Assign)]
    given = [one for one in statements if not any(isinstance(part, ast.Name) for part in ast.walk(one.value))]
    names = [target.id for one in given for target in one.targets if isinstance(target, ast.Name)]
    for most in _SMALL:
        values = {name: getattr(module, name) for name in names}
        halved = {name: _halved(value, most) for name, value in values.items()}
        if changed := {name: value for name, value in halved.items() if value != values[name]}:
            yield changed


def _halved(value: Any, most: int) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_halved(one, most) for one in value)
    while type(value) is int and value > most:
        value //= 2
    return value


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("name")
    parser.add_argument("--evaluation", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--workloads", type=Path)
    parser.add_argument("--most", type=int)
    parser.add_argument("--memory", type=int)
    given = parser.parse_args()
    try:
        if given.memory:
            # It depends on what only this needs.
            from .gpumode import posed

            files, reason = posed(given.file, given.name, given.most, given.memory)
        elif given.workloads:
            files, reason = defined(given.file, given.workloads, given.name, given.most)
        else:
            files, reason = extracted(given.file, given.name, evaluation=given.evaluation, small=given.small)
    # Whatever a task raises is why it isn't read.
    except Exception as error:
        files, reason = {}, f"{'' if isinstance(error, ExtractError) else type(error).__name__ + ': '}{error}"
    Path(SAMPLE).write_text(json.dumps(files))
    Path(REASON).write_text(reason)
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
