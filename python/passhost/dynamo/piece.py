"""A piece of a model: eager's and the rewrite of it, of which one is taken at the first call."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from passhost.dynamo import check, values
from passhost.dynamo.dynamic import has_tangents
from passhost.dynamo.graphed import Graphed
from passhost.dynamo.library import Library
from passhost.dynamo.locks import compile_lock
from passhost.dynamo.options import Options

if TYPE_CHECKING:
    from passhost._engine import Program

logger = logging.getLogger("passhost")


@dataclass
class Record:
    """What became of a piece, for the report."""

    #: The name of the pass.
    by: str
    nodes: int
    kernels: int = 0
    #: Whether the rewrite comes from the user's cache.
    is_kept: bool = False
    eager_us: float | None = None
    ours_us: float | None = None
    #: Empty until it is decided.
    verdict: str = ""
    taken: bool = False


class Piece(torch.nn.Module):
    """Runs a piece. Takes the place of its module in the graph."""

    def __init__(
        self,
        eager: fx.GraphModule,
        program: Program,
        device: torch.device,
        record: Record,
        options: Options,
        texts: tuple[str, str],
    ) -> None:
        from passhost._engine import EngineError

        super().__init__()
        self._error = EngineError
        self._eager = [eager]
        self._run: Callable[[list[torch.Tensor]], list[torch.Tensor]] = program.run
        #: What a run is, unless it is a replay of a CUDA graph.
        self.program: Program | None = program
        #: The graph and its rewrite.
        self.texts = texts
        self.results = self._guarded()
        self._device = device
        self._captures = options.launch == "graph" and device.type == "cuda"
        self._has_warned = False
        self.record = record
        output = next(node for node in reversed(eager.graph.nodes) if node.op == "output")
        self.is_single = isinstance(output.args[0], fx.Node)
        self._types = [values.tensor_type(node.meta["val"]) for node in eager.graph.nodes if node.op == "placeholder"]
        self.forward: Callable[..., Any] = self._first if options.check else self._take()

    @property
    def eager(self) -> fx.GraphModule:
        """The piece as PyTorch runs it."""
        return self._eager[0]

    def _take(self) -> Callable[..., Any]:
        results = self.results
        self.record.taken, self.record.verdict = True, self.record.verdict or "taken"
        if self.is_single:
            return lambda *inputs: results(list(inputs))[0]
        return lambda *inputs: tuple(results(list(inputs)))

    def _guarded(self) -> Callable[[list[torch.Tensor]], list[torch.Tensor]]:
        """The results by the rewrite; by eager if the engine cannot run it this time."""
        run, error = self._run, self._error

        def guarded(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
            if has_tangents():
                return self._run_eager(inputs)
            try:
                return run(inputs)
            except error as reason:
                return self.instead(reason, inputs)

        return guarded

    def instead(self, reason: object, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The results by eager, since the rewrite cannot run this time."""
        level = logging.DEBUG if self._has_warned else logging.WARNING
        self._has_warned = True
        logger.log(level, "pass %s: a rewrite cannot run this time, eager does: %s", self.record.by, reason)
        with torch.no_grad():
            return self._run_eager(inputs)

    def _run_eager(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        return values.results(self.eager.forward(*inputs))

    def _run_both(self, inputs: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        return self._run_eager(inputs), self._run(list(inputs))

    def _first(self, *inputs: torch.Tensor) -> Any:
        if has_tangents() or (self._device.type == "cuda" and torch.cuda.is_current_stream_capturing()):
            return self.eager.forward(*inputs)
        with compile_lock:
            if not self.record.verdict:
                verdict = self._judge(list(inputs))
                if verdict is None:
                    self.forward = self._take()
                else:
                    self.record.verdict, self.forward = verdict, self.eager.forward
        return self.forward(*inputs)

    def _judge(self, inputs: list[torch.Tensor]) -> str | None:
        """Why eager stays; None where the rewrite is right and faster."""
        for position, (expected, value) in enumerate(zip(self._types, inputs, strict=True)):
            found = values.tensor_type(value)
            if not values.is_same_type(found, expected):
                return f"input {position} is {values.type_text(found)}, traced as {values.type_text(expected)}"
        double = check.Double(self.eager).run_on
        try:
            eager = self._run_eager(inputs)
            wrong = check.difference(eager, self._run(list(inputs)), double, inputs, self._run_both)
            if wrong is None:
                timed = check.times(self._run_eager, self._run, inputs, self._device)
                self.record.eager_us, self.record.ours_us = timed
        except (self._error, values.Unsupported) as error:
            return f"failed: {error}"
        if wrong is not None:
            logger.warning("pass %s: a rewrite differs from eager and is not taken: %s", self.record.by, wrong)
            return f"differs: {wrong}"
        if self._captures:
            timed = self._capture(inputs, timed)
        return None if timed[1] < timed[0] else "slower"

    def _capture(self, inputs: list[torch.Tensor], timed: tuple[float, float]) -> tuple[float, float]:
        """Takes the rewrite captured in a CUDA graph, if that gives the same and is faster."""
        graphed, run = Graphed(self._run, self._device), self._run
        try:
            # The first call on a stream is no replay.
            graphed(list(inputs))
            if not self._is_same(run(list(inputs)), graphed(list(inputs))):
                logger.warning("pass %s: a rewrite captured in a CUDA graph differs and is not taken", self.record.by)
                return timed
            if not graphed.is_captured:
                return timed
            stream, graph = check.times(run, graphed, inputs, self._device)
        except RuntimeError as error:
            logger.warning("pass %s: a rewrite cannot be captured in a CUDA graph: %s", self.record.by, error)
            return timed
        if graph >= stream:
            return timed
        self.program = None
        self._run, self.record.ours_us = graphed, graph
        self.record.verdict = f"taken, CUDA graph, {graphed.size / 2**20:.1f} MiB"
        self.results = self._guarded()
        return timed[0], graph

    @staticmethod
    def _is_same(ours: list[torch.Tensor], graphed: list[torch.Tensor]) -> bool:
        pairs = zip(ours, graphed, strict=True)
        return all(torch.allclose(one, other, rtol=0, atol=0, equal_nan=True) for one, other in pairs)


class SavedPiece(torch.nn.Module):
    """A piece that was read: its rewrite, and its graph, op by op, where that cannot run."""

    def __init__(self, texts: tuple[str, str], library: Library, policy: str, is_single: bool, captures: bool) -> None:
        from passhost import _engine

        super().__init__()
        device = library.device
        self._library, self._index = library, values.device_index(device)
        self._new = _engine.Program
        self._error = _engine.EngineError
        verified = _engine.verify(*texts, self._library.types, policy)
        self.texts, self.is_single = (texts[0], verified.graph), is_single
        program = self._program(verified.graph)
        graphed = Graphed(program.run, device) if captures and device.type == "cuda" else None
        self.program: Program | None = None if graphed else program
        self._run: Callable[[list[torch.Tensor]], list[torch.Tensor]] = graphed or program.run
        self._eager: Program | None = None

    def _program(self, text: str) -> Program:
        return self._new(text, self._index, torch.get_num_threads(), self._library.prepare)

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The result, or a tuple of several."""
        returned = self.results(list(inputs))
        return returned[0] if self.is_single else tuple(returned)

    def results(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The results by the rewrite; op by op if the engine cannot run it this time."""
        try:
            return self._run(inputs)
        except self._error as reason:
            return self.instead(reason, inputs)

    def instead(self, reason: object, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The results of the graph that was rewritten."""
        level = logging.WARNING if self._eager is None else logging.DEBUG
        logger.log(level, "a saved rewrite cannot run this time, the ops of its graph do: %s", reason)
        if self._eager is None:
            self._eager = self._program(self.texts[0])
        return self._eager.run(inputs)
