"""A task: the same operations in several shapes and dtypes, written as one directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch

from .capture import Capture, capture, capture_training, trace
from .constraints import Shapes, SymbolicShapes, symbolic_shapes
from .dynamic import Dynamic, probe
from .errors import ExtractError
from .model_text import model_text
from .provenance import Provenance, check_folder_name
from .variant import Selection, Variant, shapes_of, variant

CATEGORY = "subgraphs"


class Task:
    """Collects the shape variants of one cut, or of a whole model, and writes them in each of `dtypes`.

    These are names in `torch`, such as `"float16"`; where `dtypes` is None, tensors stay as the model has them.

    `dynamic` names dimensions of the model's arguments that may take any size: `{"x": {0: "S0"}}`. Each call is then traced a
    second time with other sizes there. `training` allows models in training mode.
    """

    def __init__(
        self,
        name: str,
        provenance: Provenance,
        *,
        ops: Sequence[str] | None = None,
        occurrence: int = 0,
        dtypes: Sequence[str] | None = None,
        dynamic: Dynamic | None = None,
        training: bool = False,
    ) -> None:
        self.name = check_folder_name(name)
        check_folder_name(provenance.model_name)
        self._provenance = provenance
        self._selection = Selection(ops, occurrence)
        self._dtypes = None if dtypes is None else {dtype: _float_dtype(dtype) for dtype in dtypes}
        self._dynamic = dynamic
        self._capture = capture_training if training else capture
        self._variants: dict[Shapes, Variant] = {}
        self._probes: dict[Shapes, _Probed] = {}

    def add(self, model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Capture one shape variant and return what the model returned. The same shapes again replace the earlier variant.

        Raises `ExtractError` when the model can't be captured or a graph doesn't run in one of the dtypes.
        """
        captured = self._capture(model_or_fn, *args, **kwargs)
        self.add_captured(captured, model_or_fn, *args, **kwargs)
        return captured.outputs

    def add_captured(self, captured: Capture, model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Do as `add` does with what `capture(model_or_fn, *args, **kwargs)` returned."""
        try:
            added = variant(captured, self._selection, self._dtypes, self._provenance, (model_or_fn, args, kwargs))
            if self._dynamic is not None:
                self._probes[added.shapes] = self._probed(captured, self._dynamic, model_or_fn, args, kwargs)
        except ExtractError as error:
            raise ExtractError(f"{self.name}: {error}") from error
        for earlier in self._variants.values():
            if earlier.texts.keys() != added.texts.keys():
                raise ExtractError(
                    f"{self.name}: this call is in {', '.join(added.texts)}, an earlier one in {', '.join(earlier.texts)}; "
                    "name the dtypes to write"
                )
        self._variants[added.shapes] = added

    def count(self) -> int:
        """How many graphs `write` writes: the variants in each dtype."""
        return sum(len(one.texts) for one in self._variants.values())

    def write(self, out: Path | str) -> Path:
        """Write the task `out/<name>`, replacing the graphs of an earlier extraction there, and return that path.

        Raises `ExtractError` when no variant was added.
        """
        files = self.files()
        root = Path(out) / self.name
        shutil.rmtree(root / "graphs", ignore_errors=True)
        return written(root, files)

    def files(self) -> dict[str, str]:
        """What `write` writes: the texts by their paths in the task."""
        variants = self._added()
        symbolic = self._symbolic()
        files: dict[str, str] = {"graph_list.txt": ""}
        for dtype in variants[0].texts:
            for index, one in enumerate(variants):
                shapes, position = (symbolic, index) if symbolic else (symbolic_shapes([one.shapes]), 0)
                label = symbolic.label(index) if symbolic else f"shape-{index}"
                folder = f"graphs/{CATEGORY}/{dtype}/{label}/{self._provenance.model_name}"
                files["graph_list.txt"] += f"{folder}\n"
                files |= {f"{folder}/{name}": content for name, content in one.files(dtype, shapes, position).items()}
        return files

    def write_graph(self, out: Path | str) -> Path:
        """Write one graph folder `out/<name>`, as GraphNet keeps whole models: the last variant, and symbols for what varies.

        Raises `ExtractError` when no variant was added, or when one folder can't say it all: with several dtypes, or with sizes in
        the text that differ between variants.
        """
        variants = self._added()
        symbolic = self._symbolic()
        if len(variants[0].texts) > 1:
            raise ExtractError(f"{self.name}: one graph folder holds one dtype, not {', '.join(variants[0].texts)}; write a task instead")
        if symbolic is None:
            raise ExtractError(
                f"{self.name}: the graphs of {len(variants)} calls differ, and one graph folder holds one graph; write a task instead"
            )
        (dtype,) = variants[0].texts
        return written(Path(out) / self.name, variants[-1].files(dtype, symbolic, len(variants) - 1))

    def _added(self) -> list[Variant]:
        if not self._variants:
            raise ExtractError(f"the task {self.name} has no variant; call add with a model and its inputs first")
        return list(self._variants.values())

    def _symbolic(self) -> SymbolicShapes | None:
        """Symbols for the dimensions that vary; None where texts differ, which then have sizes written into them."""
        variants = self._added()
        if any(one.texts != variants[0].texts for one in variants):
            return None
        calls = [one.shapes for one in variants]
        if not self._probes:
            return symbolic_shapes(calls)
        probed = [self._probes[shapes] for shapes in calls]
        names = {tuple(one.sizes[symbol][which] for which in (0, 1) for one in probed): symbol for symbol in probed[0].sizes}
        return symbolic_shapes(calls + [one.shapes for one in probed], names)

    def _probed(
        self, captured: Capture, dynamic: Dynamic, model_or_fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Probed:
        """The shapes of all arguments when the named dimensions have other sizes, after comparing the graphs."""
        resized = probe(model_or_fn, args, kwargs, dynamic)
        change = ", ".join(f"{symbol} = {new} in place of {old}" for symbol, (old, new) in resized.sizes.items())
        try:
            other = self._selection.of(trace(model_or_fn, *resized.args, **resized.kwargs))
        except Exception as error:
            raise ExtractError(f"with {change} the model fails; leave that dimension out of dynamic: {error}") from error
        lines, other_lines = (model_text(one.graph).splitlines() for one in (self._selection.of(captured), other))
        for line, other_line in zip_longest(lines, other_lines, fillvalue="nothing"):
            if line != other_line:
                raise ExtractError(
                    f"with {change} the graph has `{other_line.strip()}` in place of `{line.strip()}`: a size is written into it; "
                    "leave that dimension out of dynamic, and call once for each shape"
                )
        return _Probed(shapes_of(other), resized.sizes)


@dataclass(frozen=True)
class _Probed:
    shapes: Shapes
    sizes: dict[str, tuple[int, int]]


def _float_dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ExtractError(f"{name!r} isn't a float dtype of torch; use float32, float16 or bfloat16")
    return dtype


def written(root: Path, files: dict[str, str]) -> Path:
    """Write texts below `root`, and give `root` back."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    return root
