"""Splits an FX graph into pieces that a pass may rewrite and the rest, which stays PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from passhost.dynamo.lower import Lowering, is_getitem

PREFIX = "passhost_"


class _Support(OperatorSupportBase):
    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: fx.Node) -> bool:
        return self._lowering.supports(node)


def computes(node: fx.Node) -> bool:
    """Whether a node does more than show what is there."""
    if is_getitem(node) or node.op != "call_function":
        return False
    returns = node.target._schema.returns
    return not any(result.alias_info for result in returns)


def split(module: fx.GraphModule, lowering: Lowering) -> dict[str, fx.GraphModule]:
    """Makes modules of the pieces, by name, in place; the same results come out."""
    partitioner = CapabilityBasedPartitioner(module, _Support(lowering), allows_single_node_partition=False)
    partitions = [
        partition
        for partition in partitioner.propose_partitions()
        if sum(not is_getitem(node) for node in partition.nodes) >= 2 and any(map(computes, partition.nodes))
    ]
    if not partitions:
        return {}
    partitioner.fuse_partitions(partitions, prefix=PREFIX)
    return {
        name: piece
        for name, piece in module.named_children()
        if name.startswith(PREFIX) and isinstance(piece, fx.GraphModule)
    }
