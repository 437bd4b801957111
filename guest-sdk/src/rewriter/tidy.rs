//! Removing nodes that do nothing.

use super::Rewriter;
use crate::args::Args;
use crate::indexing::pinned;
use crate::lower::GraphAnalysis;
use crate::view;
use fixedbitset::FixedBitSet;
use passhost_ir::ops::{Shows, shows};
use passhost_ir::{Dtype, Node, NodeId, NodeKind, ValueId, live_nodes};

impl Rewriter {
    /// Removes every node whose results nothing reads, and says which. Ops with effects do not occur in the graphs that
    /// a pass sees.
    pub fn remove_dead_code(&mut self) -> Vec<NodeId> {
        let live = live_nodes(&self.graph);
        let mut removed = Vec::new();
        for (node, is_live) in std::mem::take(&mut self.graph.nodes).into_iter().zip(live) {
            if is_live { self.graph.nodes.push(node) } else { removed.push(node.id) }
        }
        removed
    }

    /// Lets the readers of a node that returns its operand as it is (`aten::dropout` outside training, `aten::alias`,
    /// a cast to the same type) read the operand, removes the node, and says which nodes it removed. Where an index comes
    /// from, nothing changes.
    pub fn remove_identities(&mut self) -> Vec<NodeId> {
        let pinned = pinned(&self.graph);
        let graph = &self.graph;
        let identity = |position: usize| view::identity(graph, &graph.nodes[position]);
        let found = (0..graph.nodes.len()).filter(|&position| pinned[position].is_none());
        let found = found.filter_map(|position| Some((position, identity(position)?))).collect();
        self.forward(found)
    }

    /// Lets the readers of a copy read what it is a copy of, removes the copy, and says which nodes it removed: clones
    /// that keep type and layout, and casts to a type that holds every element and back. Nothing of a functional graph
    /// writes to either. A copy that the graph returns stays, since eager gives memory of its own there; so does one that
    /// an index comes from.
    pub fn remove_copies(&mut self) -> Vec<NodeId> {
        if !self.graph.nodes.iter().any(|node| cast(node).is_some()) {
            return vec![];
        }
        let pinned = pinned(&self.graph);
        let analysis = GraphAnalysis::of(&self.graph, &[]);
        let returned: FixedBitSet =
            self.graph.outputs.iter().map(|&output| analysis.root(output).source.index()).collect();
        let mut found = Vec::new();
        for (position, node) in self.graph.nodes.iter().enumerate() {
            let [output] = node.outputs[..] else { continue };
            if pinned[position].is_none() && !returned.contains(output.index()) {
                found.extend(copied(&analysis, node).map(|source| (position, source)));
            }
        }
        self.forward(found)
    }

    /// Lets the readers of the first result of each node read the value beside it, and removes the nodes.
    pub(super) fn forward(&mut self, found: Vec<(usize, ValueId)>) -> Vec<NodeId> {
        let mut instead: Vec<Option<ValueId>> = vec![None; self.graph.values.len()];
        let mut removed = FixedBitSet::with_capacity(self.graph.nodes.len());
        for (position, source) in found {
            // What is read instead may itself have gone; nodes stand behind what they read.
            let source = instead[source.index()].unwrap_or(source);
            instead[self.graph.nodes[position].outputs[0].index()] = Some(source);
            removed.insert(position);
        }
        let swapped = |id: &ValueId| instead[id.index()].unwrap_or(*id);
        let mut ids = Vec::new();
        for (position, mut node) in std::mem::take(&mut self.graph.nodes).into_iter().enumerate() {
            if removed.contains(position) {
                ids.push(node.id);
                continue;
            }
            if node.operands().iter().any(|operand| instead[operand.index()].is_some()) {
                node.kind = node.kind.map_values(swapped);
            }
            self.graph.nodes.push(node);
        }
        self.graph.outputs.iter_mut().for_each(|output| *output = swapped(output));
        ids
    }
}

/// What a node copies, with the same type and layout.
fn copied(analysis: &GraphAnalysis<'_>, node: &Node) -> Option<ValueId> {
    let graph = analysis.graph;
    let source = cast(node)?;
    let ty = graph.ty(*node.outputs.first()?);
    if graph.ty(source) == ty {
        return Some(source);
    }
    let before = &graph.nodes[analysis.links.definitions[source.index()]?];
    let origin = cast(before)?;
    (graph.ty(origin) == ty && holds(graph.ty(source).dtype, ty.dtype)).then_some(origin)
}

/// The operand of an op that copies or casts.
fn cast(node: &Node) -> Option<ValueId> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let is_cast = matches!(shows(&op.name), Some(Shows::Copied | Shows::Converted));
    Args::new(args).tensor(0).filter(|_| is_cast)
}

/// Whether every element of type `narrow` is one of type `wide`.
fn holds(wide: Dtype, narrow: Dtype) -> bool {
    match narrow {
        Dtype::Bool => true,
        Dtype::F16 | Dtype::Bf16 => matches!(wide, Dtype::F32 | Dtype::F64),
        Dtype::F32 => wide == Dtype::F64,
        Dtype::U8 | Dtype::I8 => matches!(wide, Dtype::I16 | Dtype::I32 | Dtype::I64 | Dtype::F32 | Dtype::F64),
        Dtype::I16 => matches!(wide, Dtype::I32 | Dtype::I64 | Dtype::F32 | Dtype::F64),
        Dtype::I32 => matches!(wide, Dtype::I64 | Dtype::F64),
        _ => false,
    }
}
