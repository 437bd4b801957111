"""A compiled graph: its pieces, what became of them, and the shortest way to call it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from passhost.dynamo.lower import is_getitem
from passhost.dynamo.piece import Piece, Record
from passhost.dynamo.split import computes
from passhost.dynamo.values import results

logger = logging.getLogger("passhost")

Run = Callable[[list[Any]], Any]
#: Takes whether any piece was taken, and a direct way to call the graph.
Settled = Callable[[bool, Run | None], None]


def inline(module: fx.GraphModule, name: str, piece: fx.GraphModule) -> None:
    """Puts the nodes of a piece back in place of its call."""
    graph = module.graph
    call = next(node for node in graph.nodes if node.op == "call_module" and node.target == name)
    inputs = [node for node in piece.graph.nodes if node.op == "placeholder"]
    with graph.inserting_before(call):
        copies = graph.graph_copy(piece.graph, dict(zip(inputs, call.args, strict=True)))
    if isinstance(copies, fx.Node):
        call.replace_all_uses_with(copies)
    else:
        for user in list(call.users):
            user.replace_all_uses_with(copies[user.args[1]])
            graph.erase_node(user)
    graph.erase_node(call)
    delattr(module, name)


class Compiled:
    """Takes a list of arguments, as AOTAutograd wants it. Decides about its pieces in the first call."""

    def __init__(
        self,
        module: fx.GraphModule,
        original: Callable[..., Any],
        title: str,
        records: list[Record],
        report: bool,
        settled: Settled,
    ) -> None:
        self.module = module
        #: Whether any piece was taken, once all are decided.
        self.is_taken = False
        self._original = original
        self._title = title
        self._records = records
        self._report = report
        self._settled = settled
        self.call: Run = self._first
        if not self._pieces():
            self._settle([])

    def boxed(self) -> Run:
        """A function that calls it, marked as AOTAutograd wants it."""

        def run(arguments: list[Any]) -> Any:
            return self.call(arguments)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def _pieces(self) -> dict[str, Piece]:
        return {name: piece for name, piece in self.module.named_children() if isinstance(piece, Piece)}

    def _first(self, arguments: list[Any]) -> Any:
        values = self.module.forward(*arguments)
        self._settle(arguments)
        return values

    def _settle(self, arguments: list[Any]) -> None:
        """Once every piece is decided: says what came of it and runs what was taken from now on."""
        if self.call != self._first or not all(record.verdict for record in self._records):
            return
        for name, piece in self._pieces().items():
            if not piece.record.taken:
                inline(self.module, name, piece.eager)
        self.module.recompile()
        taken = self.is_taken = any(record.taken for record in self._records)
        module, original = self.module.forward, self._original
        direct: Run | None = None
        if not taken:
            self.call = lambda arguments: original(*arguments)
        else:
            directly = whole(self.module)
            self.call = directly or (lambda arguments: module(*arguments))
            if directly is not None and _is_plain(arguments) and _is_fresh(next(iter(self._pieces().values())).eager):
                direct = directly
        self._settled(taken, direct)
        logger.info("%s", self.summary())
        if self._report:
            print(self.table())
        else:
            logger.debug("%s", self.table())

    def summary(self) -> str:
        """One line: what was gained."""
        taken = [record for record in self._records if record.taken]
        line = f"{self._title}: {len(taken)} of {len(self._records)} pieces rewritten"
        eager, ours = (sum(getattr(record, key) or 0.0 for record in taken) for key in ("eager_us", "ours_us"))
        if ours:
            line += f", {sum(record.kernels for record in taken)} kernels: {ours:.1f} us instead of {eager:.1f} us"
            line += f" ({eager / ours:.2f}x)"
        kept = sum(record.is_kept for record in self._records)
        return f"{line}; {kept} from the cache" if kept else line

    def table(self) -> str:
        """One line a piece."""
        lines = [self.summary(), f"{'piece':>5} {'nodes':>6} {'kernels':>8} {'eager us':>10} {'ours us':>10}  verdict"]
        for number, record in enumerate(self._records):
            eager, ours = (f"{us:.1f}" if us is not None else "-" for us in (record.eager_us, record.ours_us))
            lines.append(f"{number:>5} {record.nodes:>6} {record.kernels:>8} {eager:>10} {ours:>10}  {record.verdict}")
        return "\n".join(lines)


def _is_plain(arguments: list[Any]) -> bool:
    """Whether AOTAutograd does nothing with the arguments of an inference graph but pass them on."""
    if torch._C._is_any_autocast_enabled():
        return False
    is_recorded = torch.is_grad_enabled()
    return all(
        type(value) in (torch.Tensor, torch.nn.Parameter) and not (is_recorded and value.requires_grad)
        for value in arguments
    )


def _is_fresh(graph: fx.GraphModule) -> bool:
    """Whether every result has memory of its own."""
    returned = results(next(node for node in reversed(graph.graph.nodes) if node.op == "output").args[0])
    sources = [value.args[0] if is_getitem(value) else value for value in returned]
    return len(set(returned)) == len(returned) and all(map(computes, sources))


@dataclass(frozen=True)
class OnlyPiece:
    """The only piece of a module, with nothing around it."""

    piece: Piece
    #: For each of its inputs, its place among the module's.
    order: list[int]
    #: For each result of the module, where it comes from.
    places: list[tuple[str, int]]


def only_piece(module: fx.GraphModule) -> OnlyPiece | None:
    """The only piece, if the module does no more than to call it."""
    nodes = list(module.graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    rest = [node for node in nodes if node.op not in ("placeholder", "output") and not is_getitem(node)]
    if len(rest) != 1 or rest[0].op != "call_module":
        return None
    call = rest[0]
    returned = nodes[-1].args[0]
    if not isinstance(returned, (list, tuple)) or not all(
        value is None or value is call or value in inputs or (is_getitem(value) and value.args[0] is call)
        for value in returned
    ):
        return None
    order = [inputs.index(operand) for operand in call.args]
    return OnlyPiece(module.get_submodule(call.target), order, [_place(value, inputs) for value in returned])


def whole(module: fx.GraphModule) -> Run | None:
    """A function that calls the only piece directly, if nothing is around it."""
    only = only_piece(module)
    if only is None:
        return None
    run, order, places = only.piece.results, only.order, only.places
    if places == [("result", place) for place in range(len(places))]:
        count = sum(node.op == "placeholder" for node in module.graph.nodes)
        return run if order == list(range(count)) else lambda arguments: run([arguments[place] for place in order])

    def around(arguments: list[Any]) -> list[Any]:
        values = run([arguments[place] for place in order])
        sources = {"result": values, "input": arguments, "none": (None,)}
        return [sources[source][place] for source, place in places]

    return around


def _place(value: Any, inputs: list[fx.Node]) -> tuple[str, int]:
    if value is None:
        return "none", 0
    if value in inputs:
        return "input", inputs.index(value)
    return "result", value.args[1] if is_getitem(value) else 0
