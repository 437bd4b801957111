"""The short way in: wrap a model, call it, find a task on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .task import Provenance, Task


def extract(
    name: str,
    *,
    out: Path | str = ".",
    ops: Sequence[str] | None = None,
    occurrence: int = 0,
    dtypes: Sequence[str] = ("float32",),
    provenance: Provenance | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a wrapper that runs a model as before and writes the task `out/<name>`.

    Each call with new shapes adds a variant:

        run = extract("mlp", out="samples", dtypes=["float32", "float16"])(model.eval())
        run(torch.randn(1, 64))
        run(torch.randn(32, 64))

    `ops` cuts out a run of operations, named as `op_name` spells them; without it the whole graph is written. `occurrence` says which match is meant.
    """

    def wrap(model_or_fn: Callable[..., Any]) -> Callable[..., Any]:
        task = Task(name, provenance or Provenance(model_name=name), ops=ops, occurrence=occurrence, dtypes=dtypes)

        def run(*args: Any, **kwargs: Any) -> Any:
            outputs = task.add(model_or_fn, *args, **kwargs)
            task.write(out)
            return outputs

        return run

    return wrap
