"""One shape of a graph, as texts: what a task keeps of a call, so that no tensor outlives it."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils import _pytree as pytree

from .capture import Capture, trace
from .constraints import Shapes, SymbolicShapes, constraints_text
from .cut import cut
from .errors import ExtractError
from .model_text import graph_hash, model_text
from .provenance import Provenance
from .subgraph import Subgraph, run
from .weight_meta import cast, weight_meta_text
from .whole import whole

# Every finite number of the narrowest dtype lies below this.
_LARGEST_HALF = torch.finfo(torch.float16).max


@dataclass(frozen=True)
class Selection:
    """Which operations of a model are meant: those that match `ops`, all where it is None. `occurrence` says which match."""

    ops: Sequence[str] | None
    occurrence: int

    def of(self, captured: Capture) -> Subgraph:
        return whole(captured) if self.ops is None else cut(captured, self.ops, self.occurrence)


@dataclass(frozen=True)
class Variant:
    """The graph of one call. `texts` and `weight_metas` hold `model.py` and `weight_meta.py` for each dtype."""

    shapes: Shapes
    names: tuple[str, ...]
    texts: dict[str, str]
    weight_metas: dict[str, str]
    graph_net: dict[str, Any]

    def files(self, dtype: str, symbolic: SymbolicShapes, index: int) -> dict[str, str]:
        """The six files of a graph folder. `index` says which of the variants in `symbolic` this one is."""
        text = self.texts[dtype]
        return {
            "model.py": text,
            "weight_meta.py": self.weight_metas[dtype],
            "input_meta.py": "",
            "input_tensor_constraints.py": constraints_text(self.names, symbolic, index),
            "graph_net.json": json.dumps(self.graph_net, indent=4) + "\n",
            "graph_hash.txt": graph_hash(text),
        }


def variant(
    captured: Capture,
    selection: Selection,
    dtypes: Mapping[str, torch.dtype] | None,
    provenance: Provenance,
    call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]],
) -> Variant:
    """Select from `captured`, which recorded `call`, and cast to each of `dtypes`; as it is, where `dtypes` is None.

    Values are those of the captured run. Where the text depends on the element type, the graph of each other dtype than the
    model's comes from tracing the model in that dtype.

    Raises `ExtractError` when the graph doesn't run in one of the dtypes.
    """
    subgraph = selection.of(captured)
    own = _main_dtype(subgraph)
    texts, weight_metas = {}, {}
    for name, dtype in ({str(own).removeprefix("torch."): own} if dtypes is None else dtypes).items():
        graph = subgraph.graph
        if dtype != own and _depends_on_dtype(graph):
            graph = _graph_in(dtype, own, subgraph, selection, call)
        values = [item.value if dtypes is None else cast(item.value, dtype) for item in subgraph.inputs]
        if not _same_dtypes(values, subgraph):
            _check_that_it_runs(graph, values, name)
        texts[name] = model_text(graph)
        weight_metas[name] = weight_meta_text([
            (item.name, item.original_name, value) for item, value in zip(subgraph.inputs, values, strict=True)
        ])
    return Variant(
        shapes_of(subgraph),
        tuple(item.name for item in subgraph.inputs),
        texts,
        weight_metas,
        provenance.graph_net(subgraph.module, subgraph.ops),
    )


def shapes_of(subgraph: Subgraph) -> Shapes:
    return tuple(tuple(item.value.shape) for item in subgraph.inputs)


def _main_dtype(subgraph: Subgraph) -> torch.dtype:
    """The float dtype that most arguments have; float32 where there is none, as torch would compute in."""
    counts = Counter(item.value.dtype for item in subgraph.inputs if item.value.is_floating_point())
    return counts.most_common(1)[0][0] if counts else torch.float32


def _depends_on_dtype(graph: fx.Graph) -> bool:
    """Whether the text names an element type, or a number that only some of them have, such as the minimum of float32."""
    leaves = pytree.tree_leaves([(node.args, node.kwargs) for node in graph.nodes])
    return any(isinstance(leaf, torch.dtype) or (isinstance(leaf, float) and abs(leaf) > _LARGEST_HALF) for leaf in leaves)


def _graph_in(
    dtype: torch.dtype,
    own: torch.dtype,
    subgraph: Subgraph,
    selection: Selection,
    call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]],
) -> fx.Graph:
    """The graph of the same selection where model and inputs have `dtype`."""

    def converted(value: Any) -> Any:
        return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value

    model_or_fn, args, kwargs = call
    if isinstance(model_or_fn, torch.nn.Module):
        model_or_fn = copy.deepcopy(model_or_fn).to(dtype)
    args, kwargs = pytree.tree_map(converted, (args, kwargs))
    recast = selection.of(trace(model_or_fn, *args, **kwargs))
    for what, read in _COMPARED.items():
        for here, there in zip_longest(read(subgraph), read(recast), fillvalue="none"):
            if here != there:
                raise ExtractError(
                    f"in {dtype} the graph has other {what} than in {own}, first {there} in place of {here}; leave that dtype out"
                )
    return recast.graph


_COMPARED: dict[str, Callable[[Subgraph], list[str]]] = {
    "operations": lambda subgraph: list(subgraph.ops),
    "arguments": lambda subgraph: [f"{item.original_name} {list(item.value.shape)}" for item in subgraph.inputs],
}


def _same_dtypes(values: Sequence[Tensor], subgraph: Subgraph) -> bool:
    return all(value.dtype == item.value.dtype for value, item in zip(values, subgraph.inputs, strict=True))


def _check_that_it_runs(graph: fx.Graph, values: Sequence[Tensor], dtype: str) -> None:
    try:
        run(graph, values)
    except (RuntimeError, TypeError) as error:
        raise ExtractError(f"the graph doesn't run in {dtype}; leave that dtype out: {error}") from error
