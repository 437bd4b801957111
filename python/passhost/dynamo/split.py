"""Splits an FX graph into pieces that a pass may rewrite and the rest, which stays PyTorch's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from torch.fx.passes.operator_support import OperatorSupportBase

from passhost.dynamo.lower import Lowering, is_aten, is_getitem

PREFIX = "passhost_"
#: The argument by which a call waits for another.
AFTER = "passhost_after"
#: Ops of a graph up to which one alone becomes a piece.
FEW = 4
#: Element types that nothing takes for places in memory.
NO_PLACES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool)


class _Support(OperatorSupportBase):
    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        #: Nodes that stay PyTorch's whatever their op is.
        self.barred: set[fx.Node] = set()

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: fx.Node) -> bool:
        source = node.args[0] if is_getitem(node) else node
        return source not in self.barred and self._lowering.supports(node)


def computes(node: fx.Node) -> bool:
    """Whether a node does more than show what is there."""
    if is_getitem(node) or node.op != "call_function":
        return False
    # What is no op of a schema, such as a higher-order op, is more than a view.
    schema = getattr(node.target, "_schema", None)
    return schema is None or not any(result.alias_info for result in schema.returns)


def _partitions(module: fx.GraphModule, lowering: Lowering) -> tuple[CapabilityBasedPartitioner, list[Partition]]:
    """What becomes pieces. No piece gives integers to anybody: PyTorch takes them for places in memory, and not each of
    its ops checks them, so that those that a pass could have written would be as good as its code. Ops of others get
    nothing from a piece."""
    support = _Support(lowering)
    while True:
        partitioner = CapabilityBasedPartitioner(module, support, allows_single_node_partition=True)
        partitions = partitioner.propose_partitions()
        place = {node: number for number, partition in enumerate(partitions) for node in partition.nodes}
        given = {
            node.args[0] if is_getitem(node) else node
            for node, number in place.items()
            if any(place.get(user) != number and (_is_integer(node) or _is_foreign(user)) for user in node.users)
        }
        if not given:
            return partitioner, partitions
        support.barred |= given


def is_repeatable(node: fx.Node) -> bool:
    """Whether a call leaves nothing behind: no tensor and no generator of random numbers is another afterwards."""
    op = node.target
    return is_aten(op) and not op._schema.is_mutable and torch.Tag.nondeterministic_seeded not in op.tags


@contextmanager
def _in_order(module: fx.GraphModule, lowering: Lowering) -> Iterator[None]:
    """Has calls that draw random numbers, and others that leave something behind, stay in their order: meanwhile each
    takes the one before as an argument."""
    latest: fx.Node | None = None
    for node in module.graph.nodes:
        if node.op != "call_function" or is_getitem(node) or is_repeatable(node) or lowering.supports(node):
            continue
        if latest is not None:
            node.update_kwarg(AFTER, latest)
        latest = node
    yield
    for node in module.graph.nodes:
        node.kwargs = {name: value for name, value in node.kwargs.items() if name != AFTER}


def _is_foreign(user: fx.Node) -> bool:
    """Whether it calls an op that is not PyTorch's own."""
    return user.op == "call_function" and not is_getitem(user) and not is_aten(user.target)


def _is_integer(node: fx.Node) -> bool:
    """Whether it is a tensor of integers. Those of flags are none: a mask points nowhere."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype not in NO_PLACES and not value.is_complex()


def split(module: fx.GraphModule, lowering: Lowering) -> dict[str, fx.GraphModule]:
    """Makes modules of the pieces, by name, in place; the same results come out."""
    with _in_order(module, lowering):
        _fuse(module, lowering)
    return {
        name: piece
        for name, piece in module.named_children()
        if name.startswith(PREFIX) and isinstance(piece, fx.GraphModule)
    }


def _fuse(module: fx.GraphModule, lowering: Lowering) -> None:
    partitioner, proposed = _partitions(module, lowering)
    # Among many others an op alone is seldom worth asking a pass.
    fewest = 1 if sum(map(computes, module.graph.nodes)) <= FEW else 2
    partitions = [
        partition
        for partition in proposed
        if sum(not is_getitem(node) for node in partition.nodes) >= fewest and any(map(computes, partition.nodes))
    ]
    if partitions:
        partitioner.fuse_partitions(partitions, prefix=PREFIX)
