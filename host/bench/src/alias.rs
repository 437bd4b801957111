//! Who may overwrite whose memory.

use passhost_ir::{Graph, NodeId, NodeKind, OpTable, ValueId};
use std::collections::{HashMap, HashSet};

/// Whether an op's results may share memory with its operands: a view, or an op on no list.
fn may_alias(kind: &NodeKind) -> bool {
    match kind {
        NodeKind::Aten { op, .. } => OpTable::sample()
            .get(op)
            .is_none_or(|schema| schema.is_view() || schema.is_in_place() || is_sometimes_a_view(&op.name)),
        NodeKind::Kernel { .. } => false,
    }
}

/// Ops whose schema promises a new tensor, or nothing, but that return their operand where nothing is to be done.
fn is_sometimes_a_view(name: &str) -> bool {
    matches!(
        name,
        "aten::reshape"
            | "aten::contiguous"
            | "aten::to"
            | "aten::dropout"
            | "aten::flatten"
            | "aten::expand_as"
            | "aten::type_as"
            | "aten::view_as"
            | "aten::reshape_as"
            | "aten::broadcast_to"
    )
}

/// Nodes whose first operand is a fresh tensor that only this node reads, so that the node may overwrite it.
pub fn reusable(graph: &Graph) -> HashSet<NodeId> {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    for value in graph.nodes.iter().flat_map(|node| node.operands()).chain(graph.outputs.iter().copied()) {
        *uses.entry(value).or_default() += 1;
    }
    let mut fresh: HashSet<ValueId> = HashSet::new();
    let mut reusable = HashSet::new();
    for node in &graph.nodes {
        let first = node.operands().first().copied();
        if first.is_some_and(|value| fresh.contains(&value) && uses.get(&value) == Some(&1)) {
            reusable.insert(node.id);
        }
        // Overwriting a fresh tensor leaves a tensor that is as fresh.
        if !may_alias(&node.kind) {
            fresh.extend(&node.outputs);
        }
    }
    reusable
}

/// Positions of the inputs that the program overwrites, directly or through a view.
pub fn mutated_inputs(graph: &Graph) -> Vec<usize> {
    let mut root: HashMap<ValueId, usize> =
        graph.inputs.iter().enumerate().map(|(position, &value)| (value, position)).collect();
    let mut mutated = vec![];
    for node in &graph.nodes {
        let NodeKind::Aten { op, .. } = &node.kind else { continue };
        let first = node.operands().first().and_then(|value| root.get(value).copied());
        let Some(first) = first else { continue };
        if OpTable::sample().get(op).is_some_and(|schema| schema.is_in_place()) {
            mutated.push(first);
        }
        if may_alias(&node.kind) {
            root.extend(node.outputs.iter().map(|&output| (output, first)));
        }
    }
    mutated.sort_unstable();
    mutated.dedup();
    mutated
}
