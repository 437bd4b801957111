"""The short way in: wrap a model, call it, find a sample on disk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from .dynamic import Dynamic
from .errors import ExtractError
from .provenance import Provenance, check_folder_name
from .script import called, wait_for_call
from .task import Task


def extract(
    name: str | None = None,
    *,
    out: Path | str = ".",
    layout: Literal["task", "graph"] = "task",
    ops: Sequence[str] | None = None,
    occurrence: int = 0,
    dtypes: Sequence[str] | None = None,
    dynamic: Dynamic | None = None,
    training: bool = False,
    provenance: Provenance | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a wrapper that runs a model or a function as before, writes the sample `out/<name>` and prints how many variants it has.

    Each call with new shapes adds a variant:

        run = extract("mlp", out="samples", dtypes=["float32", "float16"])(model.eval())
        run(torch.randn(1, 64))
        run(torch.randn(32, 64))

    `layout` is `"task"`, a folder of graphs in all shapes and dtypes, as PassNet has them, or `"graph"`, the folder of one graph, as
    GraphNet keeps whole models. `ops` cuts out a run of operations, named as `target_name` spells them; without it the whole graph is
    written. `occurrence` says which match is meant. `dtypes` casts to each of these; without it the model stays as it is. `dynamic`
    names dimensions that may take any size, and checks that the graph stays the same: `{"x": {0: "S0"}}`. `training` allows a model in
    training mode, as long as it draws no random numbers.
    """
    if not isinstance(name, str):
        found = "no name is given" if name is None else f"{type(name).__name__} stands where the name belongs"
        raise ExtractError(f'{found}; the name comes first: extract("my-model")(model)')
    check_folder_name(name)
    if layout not in ("task", "graph"):
        raise ExtractError(f"layout is {layout!r}; it must be 'task' or 'graph'")
    wait_for_call(f"{Path(out) / name}")

    def wrap(model_or_fn: Callable[..., Any]) -> Callable[..., Any]:
        origin = provenance or Provenance(model_name=name)
        task = Task(name, origin, ops=ops, occurrence=occurrence, dtypes=dtypes, dynamic=dynamic, training=training)

        @functools.wraps(model_or_fn, updated=())
        def run(*args: Any, **kwargs: Any) -> Any:
            called(f"{Path(out) / name}")
            outputs = task.add(model_or_fn, *args, **kwargs)
            written = task.write_graph(out) if layout == "graph" else task.write(out)
            count = 1 if layout == "graph" else task.count()
            print(f"{written}: {count} variant{'' if count == 1 else 's'}")
            return outputs

        return run

    return wrap
