"""The names of arguments, as the model spells them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import fx

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def name_as_the_model_does(graph: fx.Graph, model_or_fn: Callable[..., Any]) -> None:
    """Dynamo calls modules and functions of torch itself through a function of its own, `inner(*args, **kwargs)`, and names arguments
    after that: `L_fn_parameters_weight_`, `L_args_0_`, `L_kwargs_x_`. Give them the names that they have in the model.
    """
    parameters = _parameters(model_or_fn)
    names = [name for name, parameter in parameters.items() if parameter.kind in _POSITIONAL]
    for node in graph.nodes:
        if node.op == "placeholder":
            target = str(node.target)
            if isinstance(model_or_fn, torch.nn.Module):
                target = re.sub(r"^L_fn_(?=modules_|parameters_|buffers_)", "L_self_", target)
            if "kwargs" not in parameters:
                target = re.sub(r"^L_kwargs_(?=.)", "L_", target)
            if match := re.match(r"L_args_(\d+)_", target):
                position = int(match[1])
                if position < len(names):
                    target = f"L_{names[position]}_{target[match.end() :]}"
            node.target = target


def _parameters(model_or_fn: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a call; none where Python doesn't know, as for functions written in C++."""
    try:
        return dict(inspect.signature(model_or_fn.forward if isinstance(model_or_fn, torch.nn.Module) else model_or_fn).parameters)
    except ValueError:
        return {}
