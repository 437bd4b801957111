"""From a model and its inputs to one FX graph whose weights are arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch._dynamo
from torch import Tensor, fx
from torch._guards import detect_fake_mode
from torch.utils import _pytree as pytree

from .errors import ExtractError
from .graph_break import describe_failure
from .naming import name_as_the_model_does
from .plain import drop_what_computes_nothing, spell_operators_plainly
from .randomness import run_and_watch


@dataclass(frozen=True)
class Capture:
    """A whole-model graph with the tensors that it ran on.

    `graph_module` is what Dynamo traced: `torch.*` calls, tensor methods and operators, before any lowering, in-place operations
    as the model writes them. `inputs` holds one tensor for each placeholder, in order, weights and buffers included, as they
    were before the run. `outputs` is what the model returned. `random` holds the operations that drew random numbers in that run.
    After `trace`, `ran` is False: inputs have types and no values, there are no outputs, and nothing is known to be random.
    """

    graph_module: fx.GraphModule
    inputs: tuple[Tensor, ...]
    outputs: Any
    random: frozenset[fx.Node] = frozenset()
    ran: bool = True


def capture(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Capture:
    """Run `model_or_fn(*args, **kwargs)` twice without gradients and record the graph of the second run.

    Shapes are taken as they are: run again with others to get another variant. Resets Dynamo's caches.

    Raises `ExtractError` when a module is in training mode, when the code can't be traced as one graph, or when it computes nothing.
    """
    _refuse_training(model_or_fn)
    return capture_training(model_or_fn, *args, **kwargs)


def capture_training(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Capture:
    """Do as `capture` does, with modules in training mode too: a batch norm takes the statistics of the batch, and updates those that
    it keeps. What draws random numbers is refused when it is written.
    """
    captures: list[Capture] = []

    def run(graph_module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
        kept = tuple(_plain_tensor(value) for value in inputs)
        outputs, random = run_and_watch(graph_module, inputs)
        captures.append(Capture(graph_module, kept, None, random))
        return outputs

    _prepare(model_or_fn, args, kwargs)
    outputs = _traced(model_or_fn, run, args, kwargs)
    return _only(model_or_fn, captures, outputs)


def trace(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Capture:
    """The graph of `model_or_fn(*args, **kwargs)` as `capture` gives it, without running it."""
    captures: list[Capture] = []

    def stop(graph_module: fx.GraphModule, _inputs: tuple[Any, ...]) -> Any:
        types = tuple(node.meta["example_value"] for node in graph_module.graph.nodes if node.op == "placeholder")
        captures.append(Capture(graph_module, types, None, ran=False))
        raise _Traced

    try:
        _traced(model_or_fn, stop, args, kwargs)
    except _Traced:
        pass
    return _only(model_or_fn, captures, None)


def capture_unrun(model_or_fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Capture:
    """Do as `capture_training` does without running anything, whatever the sizes: inputs have the values that they are given, and there
    are no outputs. What the first call of a model leaves in it is not there yet.
    """
    _refuse_what_has_no_graph(model_or_fn)
    captures: list[Capture] = []
    given: dict[int, Tensor] = {}

    def unwritten(value: Tensor) -> Tensor:
        # Memory that nobody touches isn't taken.
        blank = torch.empty(value.shape, dtype=value.dtype, device=value.device)
        given[id(blank)] = value
        return blank

    def stop(graph_module: fx.GraphModule, inputs: tuple[Any, ...]) -> Any:
        kept = tuple(given.get(id(value), value) for value in inputs)
        captures.append(Capture(graph_module, kept, None, _random(graph_module)))
        raise _Traced

    blanks, named = pytree.tree_map_only(Tensor, unwritten, (args, kwargs))
    try:
        _traced(model_or_fn, stop, blanks, named)
    except _Traced:
        pass
    return _only(model_or_fn, captures, None)


def _random(graph_module: fx.GraphModule) -> frozenset[fx.Node]:
    """The operations that draw random numbers, found with the types of tensors alone."""
    types = [node.meta["example_value"] for node in graph_module.graph.nodes if node.op == "placeholder"]
    mode = detect_fake_mode(types)
    if mode is None:
        return frozenset()
    with mode, mock.patch.object(mode, "allow_non_fake_inputs", True):
        return run_and_watch(graph_module, types)[1]


# What gets the graph and its inputs, and returns its outputs.
_Backend = Callable[[fx.GraphModule, tuple[Any, ...]], Any]


class _Traced(Exception):
    """Ends a call whose graph is all that was wanted."""


def _traced(model_or_fn: Callable[..., Any], run: _Backend, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `model_or_fn` traced anew, its graph with its inputs in the hands of `run`."""

    def backend(graph_module: fx.GraphModule, _fake_inputs: list[Tensor]) -> Callable[..., Any]:
        return lambda *inputs: run(graph_module, inputs)

    torch._dynamo.reset()
    try:
        # A number that is read out of a tensor stays in the graph, and a recurrent network is one operation.
        options = {"capture_scalar_outputs": True, "allow_rnn": True}
        # A warning ends the graph, and the first call has given it already.
        with torch.no_grad(), torch._dynamo.config.patch(options), mock.patch("warnings.warn", _no_warning):
            return torch.compile(model_or_fn, backend=backend, fullgraph=True, dynamic=False)(*args, **kwargs)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise ExtractError(describe_failure(_name(model_or_fn), error)) from error
    finally:
        torch._dynamo.reset()


def _no_warning(*_args: Any, **_kwargs: Any) -> None:
    """Stands for `warnings.warn`."""


def _prepare(model_or_fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call the model once, on copies.

    Many fill caches, make buffers or install hooks in their first call, and it is the graph of the later ones that counts. What
    is wrong with the inputs shows here, too, as PyTorch says it.
    """
    _refuse_what_has_no_graph(model_or_fn)
    own_args, own_kwargs = pytree.tree_map_only(Tensor, torch.clone, (args, kwargs))
    with torch.no_grad():
        model_or_fn(*own_args, **own_kwargs)


def _refuse_what_has_no_graph(model_or_fn: Callable[..., Any]) -> None:
    if isinstance(model_or_fn, type) or not callable(model_or_fn):
        raise ExtractError(f"expected a model or a function that can be called with tensors, found {model_or_fn!r}; pass an instance")
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        raise ExtractError(
            "autocast is on, and a sample says nothing of the casts that it would add; leave the autocast region, and name dtypes instead"
        )


def _refuse_training(model_or_fn: Callable[..., Any]) -> None:
    modules = model_or_fn.named_modules() if isinstance(model_or_fn, torch.nn.Module) else ()
    for path, module in modules:
        if module.training:
            where = f" (its module {path!r})" if path else ""
            raise ExtractError(
                f"{_name(model_or_fn)}{where} is in training mode, and a sample must give the same result twice; call .eval() first, "
                "or say training=True where that is what is to be measured"
            )


def _only(model_or_fn: Callable[..., Any], captures: list[Capture], outputs: Any) -> Capture:
    if not any(node.op.startswith("call_") for one in captures for node in one.graph_module.graph.nodes):
        raise ExtractError(f"{_name(model_or_fn)} calls no torch operation on a tensor input, so there is no graph to extract")
    (found,) = captures
    drop_what_computes_nothing(found.graph_module.graph)
    spell_operators_plainly(found.graph_module.graph)
    name_as_the_model_does(found.graph_module.graph, model_or_fn)
    return dataclasses.replace(found, outputs=outputs)


def _plain_tensor(value: Any) -> Tensor:
    """A copy of `value` as it is now, without its history."""
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_quantized:
        kind = f"a {value.layout} tensor" if isinstance(value, Tensor) else f"{type(value).__name__} {value!r}"
        raise ExtractError(f"an argument of the graph is {kind}, and must be a dense tensor; convert it before the call")
    return value.detach().clone()


def _name(model_or_fn: Callable[..., Any]) -> str:
    return getattr(model_or_fn, "__name__", type(model_or_fn).__name__)
