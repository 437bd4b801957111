//! Removing writes that change nothing.

use super::Rewriter;
use crate::indexing::pinned;
use fixedbitset::FixedBitSet;
use passhost_ir::ops::puts;
use passhost_ir::{Arg, Graph, Node, NodeId, NodeKind, OpName, ValueId};

impl Rewriter {
    /// Lets the readers of a scatter that leaves the whole as it is read the whole, removes the scatter, and says which
    /// nodes it removed: of parts without elements, and of what lies there already. A result that the graph returns stays,
    /// since eager gives memory of its own there; so does one that an index comes from.
    pub fn remove_idle_writes(&mut self) -> Vec<NodeId> {
        let mut removed = Vec::new();
        loop {
            let found = idle_writes(&self.graph);
            if found.is_empty() {
                return removed;
            }
            removed.extend(self.forward(found));
        }
    }
}

/// The positions of scatters that leave the whole as it is, each with the whole.
fn idle_writes(graph: &Graph) -> Vec<(usize, ValueId)> {
    let scatters = graph.nodes.iter().enumerate().filter(|(_, node)| view_of(node).is_some());
    let scatters: Vec<(usize, &Node)> = scatters.collect();
    if scatters.is_empty() {
        return vec![];
    }
    let (definitions, pinned) = (graph.definitions(), pinned(graph));
    let returned: FixedBitSet = graph.outputs.iter().map(|output| output.index()).collect();
    let stays = |position: usize, node: &Node| {
        pinned[position].is_some() || node.outputs.iter().any(|output| returned.contains(output.index()))
    };
    let idle = |(position, node): (usize, &Node)| {
        let whole = left_whole(graph, &definitions, node).filter(|_| !stays(position, node))?;
        Some((position, whole))
    };
    scatters.into_iter().filter_map(idle).collect()
}

/// What a scatter writes to, if that is its result.
fn left_whole(graph: &Graph, definitions: &[Option<usize>], node: &Node) -> Option<ValueId> {
    let (view, rest) = view_of(node)?;
    let (&[whole, part], &[result]) = (&node.operands()[..], &node.outputs[..]) else { return None };
    let lies_there = || {
        let NodeKind::Aten { op, args } = &graph.nodes[definitions[part.index()]?].kind else { return None };
        Some(*op == view && args.first() == Some(&Arg::Value(whole)) && args.get(1..) == Some(rest))
    };
    let is_idle = graph.ty(part).numel() == 0 || lies_there() == Some(true);
    (is_idle && graph.ty(whole) == graph.ty(result)).then_some(whole)
}

/// The view of what a scatter overwrites, with its arguments but the first.
fn view_of(node: &Node) -> Option<(OpName, &[Arg])> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    Some((puts(&op.name)?.view()?, args.get(2..)?))
}
