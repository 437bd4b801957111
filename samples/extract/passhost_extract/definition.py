"""A definition of FlashInfer-Bench or SOL-ExecBench, a JSON file whose reference is Python, and its workloads, as a sample."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from .capture import capture_unrun
from .errors import ExtractError
from .large import FewRows
from .provenance import Provenance
from .task import Task


def defined(file: Path, workloads: Path, name: str, most: int) -> tuple[dict[str, str], str]:
    """The files of a sample with a variant for each of the first `most` workloads, and no remark. This runs what the reference says."""
    definition = json.loads(file.read_text())
    # Where Dynamo looks for the module of a function.
    names = sys.modules.setdefault("reference", ModuleType("reference")).__dict__
    exec(compile(definition["reference"], f"{name}.py", "exec"), names)
    task = Task(name, Provenance(name), training=True)
    with workloads.open() as lines:
        for line in islice(lines, most):
            workload = json.loads(line)
            # FlashInfer-Bench keeps a workload in a trace.
            inputs = _inputs(definition, workload.get("workload", workload), names)
            task.add_captured(capture_unrun(names["run"], **inputs), names["run"], **inputs)
    return task.files(), ""


def _inputs(definition: Mapping[str, Any], workload: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    axes: dict[str, int] = {name: axis["value"] for name, axis in definition["axes"].items() if axis["type"] == "const"} | workload["axes"]
    for name, axis in definition["axes"].items():
        if axis["type"] == "expr":
            axes[name] = eval(axis["expression"], {}, axes)
    scalars = {name: one["value"] for name, one in workload["inputs"].items() if one["type"] == "scalar"}
    made: dict[str, Any] = {}
    if any(one["type"] == "custom" for one in workload["inputs"].values()):
        make: Callable[..., dict[str, Any]] = names[definition["custom_inputs_entrypoint"]]
        made = make(axes | scalars, torch.device("cpu"))
    inputs = {}
    for name, about in definition["inputs"].items():
        how = workload["inputs"][name]["type"]
        if how not in ("random", "scalar", "custom"):
            raise ExtractError(f"the values of {name} are in a file of {how}, which a sandboxed task can't read")
        inputs[name] = scalars[name] if how == "scalar" else made[name] if how == "custom" else _random(about, axes)
    return inputs


def _random(about: Mapping[str, Any], axes: Mapping[str, int]) -> torch.Tensor:
    dtype = getattr(torch, about["dtype"], None)
    if dtype is None or (dtype.is_floating_point and dtype.itemsize < 2):
        raise ExtractError(f"an input is of type {about['dtype']}, which no sample has")
    shape = [axes[axis] for axis in about["shape"] or ()]
    with FewRows():  # type: ignore[no-untyped-call]
        return torch.randn(shape, dtype=dtype) if dtype.is_floating_point else torch.randint(0, 2, shape).to(dtype)
