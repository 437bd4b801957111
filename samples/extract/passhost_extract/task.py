"""A task: the same operations in several shapes and dtypes, written as one directory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from .capture import capture
from .constraints import Shapes, constraints_text, symbolic_shapes
from .errors import ExtractError
from .model_text import graph_hash, model_text
from .subgraph import Subgraph, cut
from .weight_meta import cast, weight_meta_text

CATEGORY = "subgraphs"


@dataclass(frozen=True)
class Provenance:
    """Where a task comes from, for `graph_net.json`.

    `source` is the library that builds the model (its version is recorded where it is installed), `model_options` the arguments it was built with.
    """

    model_name: str
    source: str = "user"
    heuristic_tag: str = "other"
    model_options: dict[str, Any] = field(default_factory=dict)


class Task:
    """Collects the shape variants of one cut and writes them in each of `dtypes` (names in `torch`, such as `"float16"`)."""

    def __init__(
        self,
        name: str,
        provenance: Provenance,
        *,
        ops: Sequence[str] | None = None,
        occurrence: int = 0,
        dtypes: Sequence[str] = ("float32",),
    ) -> None:
        self.name = name
        self._provenance = provenance
        self._ops = ops
        self._occurrence = occurrence
        self._dtypes = {dtype: _float_dtype(dtype) for dtype in dtypes}
        self._subgraphs: dict[Shapes, Subgraph] = {}

    def add(self, model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Capture one shape variant and return what the model returned. The same shapes again replace the earlier variant."""
        captured = capture(model_or_fn, *args, **kwargs)
        subgraph = cut(captured, self._ops, self._occurrence)
        self._subgraphs[tuple(tuple(item.value.shape) for item in subgraph.inputs)] = subgraph
        return captured.outputs

    def write(self, out: Path | str) -> Path:
        """Write `out/<name>`, replacing the graphs of an earlier extraction there, and return that path.

        Raises `ExtractError` when no variant was added or when a graph doesn't run in one of the dtypes.
        """
        if not self._subgraphs:
            raise ExtractError(f"the task {self.name} has no variant; call add with a model and its inputs first")
        subgraphs = list(self._subgraphs.values())
        texts = [model_text(subgraph.graph) for subgraph in subgraphs]
        # A symbol promises that the graph holds for other values too. Texts that differ have sizes written into them.
        symbolic = symbolic_shapes(list(self._subgraphs)) if len(set(texts)) == 1 else None

        files: dict[str, str] = {"graph_list.txt": ""}
        for dtype in self._dtypes:
            for index, (fixed, subgraph) in enumerate(self._subgraphs.items()):
                shapes, variant = (symbolic, index) if symbolic else (symbolic_shapes([fixed]), 0)
                label = symbolic.label(index) if symbolic else f"shape-{index}"
                folder = f"graphs/{CATEGORY}/{dtype}/{label}/{self._provenance.model_name}"
                names = [item.name for item in subgraph.inputs]
                files["graph_list.txt"] += f"{folder}\n"
                files |= {
                    f"{folder}/model.py": texts[index],
                    f"{folder}/weight_meta.py": self._weight_meta(subgraph, dtype),
                    f"{folder}/input_meta.py": "",
                    f"{folder}/input_tensor_constraints.py": constraints_text(names, shapes, variant),
                    f"{folder}/graph_net.json": json.dumps(self._graph_net(subgraph), indent=4) + "\n",
                    f"{folder}/graph_hash.txt": graph_hash(texts[index]),
                }

        root = Path(out) / self.name
        shutil.rmtree(root / "graphs", ignore_errors=True)
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        return root

    def _weight_meta(self, subgraph: Subgraph, dtype: str) -> str:
        values = [cast(item.value, self._dtypes[dtype]) for item in subgraph.inputs]
        try:
            subgraph.run(values)
        except (RuntimeError, TypeError) as error:
            raise ExtractError(f"the graph of {self.name} doesn't run in {dtype}; leave that dtype out: {error}") from error
        return weight_meta_text([(item.name, item.original_name, value) for item, value in zip(subgraph.inputs, values, strict=True)])

    def _graph_net(self, subgraph: Subgraph) -> dict[str, Any]:
        provenance = self._provenance
        return {
            "framework": "torch",
            "num_devices_required": 1,
            "num_nodes_required": 1,
            "dynamic": False,
            "model_name": provenance.model_name,
            "source": provenance.source,
            "heuristic_tag": provenance.heuristic_tag,
            "model_options": provenance.model_options,
            "module": subgraph.module,
            "op_sequence": list(subgraph.ops),
            "versions": _versions("torch", provenance.source),
        }


def _float_dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ExtractError(f"{name!r} isn't a float dtype of torch; use float32, float16 or bfloat16")
    return dtype


def _versions(*packages: str) -> dict[str, str]:
    versions = {}
    for package in packages:
        try:
            # Without a local part such as +cpu, which says how the package was built, not what it computes.
            versions[package] = metadata.version(package).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return versions
