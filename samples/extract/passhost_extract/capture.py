"""From a model and its inputs to one FX graph whose weights are arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
from torch import Tensor, fx

from .errors import ExtractError


@dataclass(frozen=True)
class Capture:
    """A whole-model graph with the tensors that it ran on.

    `graph_module` is what Dynamo traced: `torch.*` calls, tensor methods and operators, before any lowering, in-place operations
    as the model writes them. `inputs` holds one tensor for each placeholder, in order, weights and buffers included, as they
    were before the run. `outputs` is what the model returned.
    """

    graph_module: fx.GraphModule
    inputs: tuple[Tensor, ...]
    outputs: Any


def capture(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Capture:
    """Run `model_or_fn(*args, **kwargs)` once without gradients and record its graph.

    Shapes are taken as they are: run again with others to get another variant. Resets Dynamo's caches.

    Raises `ExtractError` when a module is in training mode, when the code can't be traced as one graph, or when it computes nothing.
    """
    if isinstance(model_or_fn, torch.nn.Module) and model_or_fn.training:
        raise ExtractError(
            f"{type(model_or_fn).__name__} is in training mode, and a sample must give the same result twice; call .eval() first"
        )
    graphs: list[tuple[fx.GraphModule, tuple[Tensor, ...]]] = []

    def record(graph_module: fx.GraphModule, _fake_inputs: list[Tensor]) -> Callable[..., Any]:
        def run(*inputs: Tensor) -> Any:
            graphs.append((graph_module, tuple(value.detach().clone() for value in inputs)))
            return graph_module(*inputs)

        return run

    torch._dynamo.reset()
    try:
        # Dynamo lifts parameters to placeholders by itself (inline_inbuilt_nn_modules); stated here because the layout needs it.
        with torch.no_grad(), torch._dynamo.config.patch(inline_inbuilt_nn_modules=True):
            outputs = torch.compile(model_or_fn, backend=record, fullgraph=True, dynamic=False)(*args, **kwargs)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise ExtractError(
            f"{_name(model_or_fn)} can't be captured as one graph; remove the graph break or extract the part around it: {error}"
        ) from error
    finally:
        torch._dynamo.reset()
    if not graphs or all(node.op in ("placeholder", "output") for node in graphs[0][0].graph.nodes):
        raise ExtractError(f"{_name(model_or_fn)} calls no torch operation on a tensor input, so there is no graph to extract")
    graph_module, inputs = graphs[0]
    return Capture(graph_module, inputs, outputs)


def _name(model_or_fn: Callable[..., Any]) -> str:
    return getattr(model_or_fn, "__name__", type(model_or_fn).__name__)
