"""Models that are compiled ahead of time: called without Dynamo, behind guards of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from passhost.dynamo import check, saved
from passhost.dynamo.backend import Session, engine
from passhost.dynamo.compiled import only_piece, whole
from passhost.dynamo.dynamic import has_tangents, is_transformed
from passhost.dynamo.exported import Exported, export
from passhost.dynamo.locks import compile_lock
from passhost.dynamo.options import Options
from passhost.dynamo.options import load as load_pass
from passhost.errors import InputMismatch, SettingsError

Tensors = list[torch.Tensor]


def compile(model: torch.nn.Module, *example_inputs: Any, **options: Any) -> AheadModel:
    """Compiles a model for inputs like these, in inference. `pass_` is the option `pass` of the backend."""
    chosen = Options.parse(options)
    if not isinstance(model, torch.nn.Module):
        raise SettingsError(f"the model is {type(model).__name__}; expected torch.nn.Module")
    engine()
    with compile_lock:
        return _compile(model, example_inputs, chosen)


def _compile(model: torch.nn.Module, example_inputs: tuple[Any, ...], chosen: Options) -> AheadModel:
    loaded = load_pass(chosen)
    exported = export(model, example_inputs)
    compiled = Session(loaded, chosen).ahead(exported.module)
    with torch.no_grad():
        tensors = [given.value for given in (*exported.weights, *exported.inputs) if given.is_tensor]
        compiled.call(tensors)
        as_it_was = AheadModel(model, exported, None)
        if not compiled.is_taken:
            return as_it_was
        fast = AheadModel(model, exported, compiled.module)
        if not chosen.check or not tensors:
            return fast
        runs = (lambda _: model(*example_inputs)), (lambda _: fast(*example_inputs))
        faster = check.is_faster(f"{loaded.name}, ahead of time", *runs, [], tensors[0].device)
    return fast if faster else as_it_was


def load(directory: str | os.PathLike[str], model: torch.nn.Module, *, policy: str = "open") -> AheadModel:
    """Reads what `AheadModel.save` wrote, for the weights of this model. Rewrites are verified again; no pass runs."""
    engine()
    read = saved.read(directory, model, policy)
    try:
        return AheadModel(model, *read)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise SettingsError(f"{directory} holds no compiled model: {type(error).__name__}: {error}") from error


class AheadModel:
    """A compiled model. It takes positional inputs like those of its compilation, and no others."""

    def __init__(self, model: torch.nn.Module, exported: Exported, module: fx.GraphModule | None) -> None:
        self._exported, self._module = exported, module
        # Where a compiled function calls it, Dynamo has nothing to look at.
        self._run: Callable[..., Any] = torch.compiler.disable(_run(model, exported, module))

    def __call__(self, *inputs: Any) -> Any:
        return self._run(*inputs)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes what `load` reads. Weights are not in it."""
        saved.save(directory, self._exported, self._module)

    def __reduce__(self) -> Any:
        raise SettingsError("a model that is compiled ahead of time cannot be pickled or copied; use .save(directory)")


def _run(model: torch.nn.Module, exported: Exported, module: fx.GraphModule | None) -> Callable[..., Any]:
    """Checks inputs, and runs a module of pieces, or the model as it is where there is none."""
    entry = engine()[0].Entry
    inputs = [(given.name, given.expected) for given in exported.inputs]
    weights = [(given.name, given.expected, given.value) for given in exported.weights]
    only = only_piece(module) if module is not None else None
    run: Callable[..., Any]
    if module is None:
        run = entry([], inputs, _as_it_is(model, exported))
    elif only is None or only.piece.program is None:
        run = entry(weights, inputs, _around(module, exported))
    else:
        results = [only.places[at] if source == "result" else (source, at) for source, at in exported.results]
        spec = exported.out_spec
        run = entry(weights, inputs, only.piece.program, only.order, results, spec.is_leaf(), only.piece.instead)
        if not spec.is_leaf() and not _is_tuple(spec):
            run = _put_together(run, spec)
    run = run if _is_flat(exported.in_spec) else _taken_apart(run, exported.in_spec)
    return _without_transforms(run, [given.value for given in exported.weights])


def _as_it_is(model: torch.nn.Module, exported: Exported) -> Callable[[Tensors], Any]:
    def run(tensors: Tensors) -> Any:
        left = iter(tensors)
        flat = [next(left) if given.is_tensor else given.value for given in exported.inputs]
        arguments, keywords = pytree.tree_unflatten(flat, exported.in_spec)
        with torch.no_grad():
            return model(*arguments, **keywords)

    return run


def _around(module: fx.GraphModule, exported: Exported) -> Callable[[Tensors], Any]:
    directly, forward = whole(module), module.forward

    def run(tensors: Tensors) -> Any:
        with torch.no_grad():
            returned = directly(tensors) if directly else forward(*tensors)
        flat = [returned[at] if source == "result" else at for source, at in exported.results]
        return pytree.tree_unflatten(flat, exported.out_spec)

    return run


def _without_transforms(run: Callable[..., Any], weights: Tensors) -> Callable[..., Any]:
    def guarded(*inputs: Any) -> Any:
        if is_transformed():
            reason = "a transform of torch.func or a tracer is around a model that was compiled for tensors"
            raise InputMismatch(f"{reason}: call the model itself in it")
        if has_tangents():
            for value in (*weights, *pytree.tree_leaves(inputs)):
                if isinstance(value, torch.Tensor) and forward_ad.unpack_dual(value).tangent is not None:
                    raise InputMismatch("a tensor has a tangent; the model was compiled for inference: call it itself")
        return run(*inputs)

    return guarded


def _put_together(run: Callable[..., Any], spec: Any) -> Callable[..., Any]:
    return lambda *inputs: pytree.tree_unflatten(run(*inputs), spec)


def _taken_apart(run: Callable[..., Any], spec: Any) -> Callable[..., Any]:
    def apart(*inputs: Any) -> Any:
        flat, found = pytree.tree_flatten((inputs, {}))
        if found != spec:
            raise InputMismatch(f"the inputs are nested as {found}; the model was compiled for {spec}")
        return run(*flat)

    return apart


def _is_tuple(spec: Any) -> bool:
    """Whether it is that of a tuple of leaves."""
    return bool(spec.type is tuple and spec.num_nodes == 1 + spec.num_leaves)


def _is_flat(spec: Any) -> bool:
    """Whether every positional input is a leaf, and there are no others."""
    return bool(spec.num_nodes == 3 + spec.num_leaves)
