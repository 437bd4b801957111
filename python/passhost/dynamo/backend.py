"""The backend of `torch.compile`."""

from __future__ import annotations

import copy
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd

from passhost.dynamo.compiled import Compiled, Settled, inline
from passhost.dynamo.dynamic import BySizes, has_tangents, is_open
from passhost.dynamo.graph import graph_device, graph_text
from passhost.dynamo.library import Library
from passhost.dynamo.lower import Lowering, Ops, is_getitem
from passhost.dynamo.options import LoadedPass, Options, load
from passhost.dynamo.piece import Piece, Record
from passhost.dynamo.schemas import loaded_ops
from passhost.dynamo.split import is_repeatable, split
from passhost.dynamo.values import Unsupported, device_index, results
from passhost.dynamo.whole import Whole, can_run_again
from passhost.errors import SettingsError

logger = logging.getLogger("passhost")


@functools.cache
def engine() -> tuple[ModuleType, Ops]:
    """The extension, opened on the loaded PyTorch, and the ops that both have."""
    try:
        from passhost import _engine
    except ImportError as error:
        raise SettingsError(f"passhost has no engine here; install its wheel: {error}") from error
    libraries = Path(torch.__file__).parent / "lib"
    cuda, programs = libraries / "libtorch_cuda.so", Path(__file__).parent.parent / "programs"
    try:
        _engine.open(
            torch.__version__,
            str(libraries / "libtorch_cpu.so"),
            str(cuda) if torch.cuda.is_available() and cuda.exists() else None,
            str(programs) if programs.is_dir() else None,
        )
    except _engine.EngineError as error:
        raise SettingsError(f"passhost cannot use PyTorch {torch.__version__}: {error}") from error
    return _engine, loaded_ops(_engine.ops(training=True))


def backend(
    module: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What `torch.compile(model, backend="passhost")` calls with each graph."""
    if mode not in (None, "default"):
        raise SettingsError(f"mode {mode!r} is unknown; the backend passhost has no modes, only options")
    as_it_was: Callable[..., Any] = module.forward
    chosen = Options.parse(options)
    engine()
    loaded = load(chosen)
    if loaded.failed:
        return as_it_was

    def compile_for(inputs: Sequence[Any]) -> Callable[..., Any]:
        return Session(loaded, chosen).entry(module, inputs)

    # With tangents the model runs as it was. Dynamo may call the same entry without.
    is_late = is_open(example_inputs) or has_tangents()
    return BySizes(as_it_was, compile_for) if is_late else compile_for(example_inputs)


class Session:
    """Compiles the graphs of one entry of Dynamo."""

    def __init__(self, loaded: LoadedPass, options: Options) -> None:
        self._loaded = loaded
        self._options = options
        #: Whether nothing was taken, so that the model can run as it was.
        self.is_pointless = False
        #: Calls the rewrite of an inference graph without AOTAutograd, where that has nothing to do.
        self.direct: Callable[[list[Any]], Any] | None = None
        #: What times the model as a whole, once that can be done, until it was done.
        self._untimed: Whole | None = None
        #: Of a training step, whether a rewrite was taken in its graphs that were called, and what may time it.
        self._taken: dict[str, bool] = {}
        self._step: Whole | None = None
        #: Whether both graphs of a training step can run more often than the user asks.
        self._can_repeat = True
        #: How many inputs and results the graph of Dynamo has.
        self._outer = (0, 0)

    def entry(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """Compiles a graph of Dynamo. Runs it as it was if nothing is gained."""
        self._outer = _signature(module.graph)
        compiled = aot_autograd(
            fw_compiler=functools.partial(self.compile, "forward"),
            bw_compiler=functools.partial(self.compile, "backward"),
            inference_compiler=functools.partial(self.compile, "inference"),
        )(module, inputs)
        as_it_was: Callable[..., Any] = module.forward
        if self.is_pointless:
            return as_it_was

        def call(*arguments: Any) -> Any:
            if has_tangents():
                return as_it_was(*arguments)
            direct = self.direct
            if direct is not None:
                return direct(list(arguments))
            if self._untimed:
                # The backward graph of a training step was called since the last call.
                self._time(as_it_was, compiled, arguments)
            if self.is_pointless:
                return as_it_was(*arguments)
            returned = compiled(*arguments)
            if self._untimed:
                self._time(as_it_was, compiled, arguments)
            return returned

        return call

    def _time(self, as_it_was: Callable[..., Any], compiled: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Leaves the model as it was if its graph is not faster as a whole."""
        untimed, direct = self._untimed, self.direct
        if untimed is None:
            return
        ours = (lambda *inputs: direct(list(inputs))) if direct else compiled
        is_faster = untimed.is_faster(as_it_was, ours, arguments)
        if is_faster is None:
            return
        self._untimed = None
        if not is_faster:
            self.direct, self.is_pointless = None, True

    def compile(self, kind: str, module: fx.GraphModule, _: Sequence[Any]) -> Callable[[list[Any]], Any]:
        """Compiles a graph of ATen ops."""
        if kind == "inference":
            return self._compiled(kind, module, self._inference(module)).boxed()
        self._can_repeat = self._can_repeat and can_run_again(calls(module.graph))
        changed = _changed(self._outer[0]) if kind == "forward" and self._options.check else None
        if changed is not None:
            self._step = Whole(f"{self._loaded.name}, training step", True, changed)

        def settled(taken: bool, _: Callable[[list[Any]], Any] | None) -> None:
            self._taken[kind] = taken
            if len(self._taken) == 2:
                self.is_pointless = not any(self._taken.values())
                self._untimed = self._step if self._can_repeat and not self.is_pointless else None

        return self._compiled(kind, module, settled).boxed()

    def _inference(self, module: fx.GraphModule) -> Settled:
        """What is done once an inference graph is settled."""
        has_wrapper = _signature(module.graph) != self._outer or _changes_or_aliases()
        has_no_effect = not _changes() and all(map(is_repeatable, calls(module.graph)))

        def settled(taken: bool, direct: Callable[[list[Any]], Any] | None) -> None:
            self.is_pointless = not taken
            self.direct = None if has_wrapper else direct
            if taken and self._options.check and has_no_effect:
                self._untimed = Whole(f"{self._loaded.name}, inference", False, ())

        return settled

    def ahead(self, module: fx.GraphModule) -> Compiled:
        """Compiles a graph of ATen ops that nobody wraps."""
        return self._compiled("ahead of time", module, lambda *_: None)

    def _compiled(self, kind: str, module: fx.GraphModule, settled: Settled) -> Compiled:
        whole = fx.GraphModule(module, copy.deepcopy(module.graph))
        records: list[Record] = []
        try:
            self._compile_pieces(whole, records)
        except engine()[0].PassError as error:
            self._loaded.fail(error)
            whole, records = (
                module,
                [Record(self._loaded.name, len(calls(module.graph)), verdict=f"pass failed: {error}")],
            )
        except Exception:
            logger.warning("a graph stays PyTorch's: an internal error of passhost", exc_info=True)
            whole, records = module, []
        title = f"{self._loaded.name}, {kind}"
        return Compiled(whole, module.forward, title, records, self._options.report, settled)

    def _compile_pieces(self, module: fx.GraphModule, records: list[Record]) -> None:
        device = graph_device(module.graph)
        if device is None:
            return
        lowering = Lowering(engine()[1], device)
        for name, eager in split(module, lowering).items():
            record = Record(self._loaded.name, len(calls(eager.graph)))
            records.append(record)
            piece = self._piece(eager, lowering, record)
            if piece is None:
                inline(module, name, eager)
            else:
                setattr(module, name, piece)
        module.recompile()

    def _piece(self, eager: fx.GraphModule, lowering: Lowering, record: Record) -> Piece | None:
        extension, ops = engine()
        index, library = device_index(lowering.device), Library(lowering.device, ops)
        try:
            text = graph_text(eager.graph, lowering)
            rewrite = self._loaded.rewrite(text, index, library.types, self._options.launch == "graph")
            record.kernels, record.is_kept = rewrite.kernels, rewrite.is_kept
            if not rewrite.changed or not rewrite.kernels:
                record.verdict = "; ".join(["unchanged", *rewrite.refusals])
                return None
            program = extension.Program(rewrite.graph, index, torch.get_num_threads(), library.prepare)
        except (extension.EngineError, Unsupported) as error:
            record.verdict = f"failed: {error}"
            return None
        return Piece(eager, program, lowering.device, record, self._options, (text, rewrite.graph))


def _metadata() -> Any:
    """What AOTAutograd knows of the graph that is being compiled."""
    context = torch._guards.TracingContext.try_get()
    return context and context.fw_metadata


def _changes() -> bool:
    """Whether AOTAutograd changes inputs after the graph."""
    known = _metadata()
    return not known or any(value.mutates_data or value.mutates_metadata for value in known.input_info)


def _changed(count: int) -> list[int] | None:
    """The places of the inputs whose elements a run changes; None if that is not known, or it changes more."""
    known = _metadata()
    if not known or len(known.input_info) != count or any(value.mutates_metadata for value in known.input_info):
        return None
    return [place for place, value in enumerate(known.input_info) if value.mutates_data]


def _changes_or_aliases() -> bool:
    """Whether AOTAutograd changes inputs after the graph that is being compiled, or makes views of its results."""
    return _changes() or any(value.output_type.name != "non_alias" for value in _metadata().output_info)


def _signature(graph: fx.Graph) -> tuple[int, int]:
    """How many inputs and results a graph has."""
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    return sum(node.op == "placeholder" for node in graph.nodes), len(results(output.args[0]))


def calls(graph: fx.Graph) -> list[fx.Node]:
    """The calls of ops."""
    return [node for node in graph.nodes if node.op == "call_function" and not is_getitem(node)]
