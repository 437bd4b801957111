"""A task: the same operations in several shapes and dtypes, written as one directory."""

from __future__ import annotations

import copy
import dataclasses
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

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
        self._subgraphs: dict[Shapes, dict[str, Subgraph]] = {}

    def add(self, model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Capture one shape variant and return what the model returned. The same shapes again replace the earlier variant.

        The values are those of this run. Where the operations name an element type (`.to(torch.float32)`), the graph of each
        other dtype comes from a second capture of the model in that dtype, without data.
        """
        captured = capture(model_or_fn, *args, **kwargs)
        subgraph = cut(captured, self._ops, self._occurrence)
        variants = dict.fromkeys(self._dtypes, subgraph)
        if _names_a_dtype(subgraph.graph):
            variants |= {
                name: dataclasses.replace(subgraph, graph=self._graph_in(dtype, subgraph, model_or_fn, args, kwargs))
                for name, dtype in self._dtypes.items()
                if dtype != torch.float32
            }
        self._subgraphs[tuple(tuple(item.value.shape) for item in subgraph.inputs)] = variants
        return captured.outputs

    def write(self, out: Path | str) -> Path:
        """Write `out/<name>`, replacing the graphs of an earlier extraction there, and return that path.

        Raises `ExtractError` when no variant was added or when a graph doesn't run in one of the dtypes.
        """
        if not self._subgraphs:
            raise ExtractError(f"the task {self.name} has no variant; call add with a model and its inputs first")
        texts = {dtype: [model_text(variants[dtype].graph) for variants in self._subgraphs.values()] for dtype in self._dtypes}
        # A symbol promises that the graph holds for other values too. Texts that differ have sizes written into them.
        fits_all = all(len(set(shapes)) == 1 for shapes in texts.values())
        symbolic = symbolic_shapes(list(self._subgraphs)) if fits_all else None

        files: dict[str, str] = {"graph_list.txt": ""}
        for dtype in self._dtypes:
            for index, (fixed, variants) in enumerate(self._subgraphs.items()):
                subgraph, text = variants[dtype], texts[dtype][index]
                shapes, variant = (symbolic, index) if symbolic else (symbolic_shapes([fixed]), 0)
                label = symbolic.label(index) if symbolic else f"shape-{index}"
                folder = f"graphs/{CATEGORY}/{dtype}/{label}/{self._provenance.model_name}"
                names = [item.name for item in subgraph.inputs]
                files["graph_list.txt"] += f"{folder}\n"
                files |= {
                    f"{folder}/model.py": text,
                    f"{folder}/weight_meta.py": self._weight_meta(subgraph, dtype),
                    f"{folder}/input_meta.py": "",
                    f"{folder}/input_tensor_constraints.py": constraints_text(names, shapes, variant),
                    f"{folder}/graph_net.json": json.dumps(self._graph_net(subgraph), indent=4) + "\n",
                    f"{folder}/graph_hash.txt": graph_hash(text),
                }

        root = Path(out) / self.name
        shutil.rmtree(root / "graphs", ignore_errors=True)
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        return root

    def _graph_in(
        self,
        dtype: torch.dtype,
        subgraph: Subgraph,
        model_or_fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> fx.Graph:
        """The graph of the same cut where model and inputs have `dtype`."""

        def converted(value: Any) -> Any:
            if isinstance(value, Tensor):
                return value.to("meta", dtype) if value.is_floating_point() else value.to("meta")
            return value

        if isinstance(model_or_fn, torch.nn.Module):
            model_or_fn = copy.deepcopy(model_or_fn).to("meta", dtype)
        args, kwargs = pytree.tree_map(converted, (args, kwargs))
        recast = cut(capture(model_or_fn, *args, **kwargs), self._ops, self._occurrence)
        expected, found = ([(item.original_name, item.value.shape) for item in one.inputs] for one in (subgraph, recast))
        if recast.ops != subgraph.ops or found != expected:
            raise ExtractError(
                f"in {dtype} the graph of {self.name} has other operations or inputs than in float32; leave that dtype out: "
                f"expected {', '.join(subgraph.ops)}, found {', '.join(recast.ops)}"
            )
        return recast.graph

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


def _names_a_dtype(graph: fx.Graph) -> bool:
    leaves = pytree.tree_leaves([(node.args, node.kwargs) for node in graph.nodes])
    return any(isinstance(leaf, torch.dtype) for leaf in leaves)


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
