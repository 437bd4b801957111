"""Capture the graph of a PyTorch model, cut subgraphs out of it, and write them as passhost samples.

The layout is the one of the public PassNet and GraphNet sets; `samples/README.md` describes it. Four steps, one module each:

1. `capture`: run the model once under Dynamo and keep its graph, weights lifted to arguments, and the tensors it ran on.
2. `whole` or `cut`: take all of it, or a run of consecutive operations with the tensors that enter it.
3. `Task`: collect several shapes of the same graph, cast to several dtypes, name the dimensions that vary, write the directory.
4. `extract`: all of it as a wrapper around a model.

`recipes` holds the reference tasks of `samples/`, `architectures` the models that the package is tried on.
"""

from .capture import Capture, capture
from .cut import cut
from .errors import ExtractError
from .extract import extract
from .model_text import canonical_text, graph_hash, model_text
from .plain import target_name
from .provenance import Provenance
from .subgraph import Input, Subgraph
from .task import Task
from .whole import whole

__all__ = [
    "Capture",
    "ExtractError",
    "Input",
    "Provenance",
    "Subgraph",
    "Task",
    "canonical_text",
    "capture",
    "cut",
    "extract",
    "graph_hash",
    "model_text",
    "target_name",
    "whole",
]
