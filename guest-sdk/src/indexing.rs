//! Tensors that say which elements an op takes. The host lets a rewrite keep such an op only with the indices that it
//! had, since an index outside takes a GPU's process down. So what they come from must stay as well.

use fixedbitset::FixedBitSet;
use passhost_ir::{Graph, Node, NodeKind, OpName, ValueId, index_argument};

/// The op and the tensors that are its indices, if it takes any.
pub(crate) fn indices(node: &Node) -> Option<(&OpName, impl Iterator<Item = ValueId> + '_)> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let indices = args.get(index_argument(op)?)?;
    Some((op, indices.values().copied()))
}

/// For each node the first op, in graph order from it on, an index of which comes from its results.
pub(crate) fn pinned(graph: &Graph) -> Vec<Option<OpName>> {
    pinned_by(graph, |_| true)
}

/// [`pinned`], where only the ops at positions that stay count.
pub(crate) fn pinned_by(graph: &Graph, stays: impl Fn(usize) -> bool) -> Vec<Option<OpName>> {
    let mut by_value: Vec<Option<&OpName>> = vec![None; graph.values.len()];
    let mut by_node = vec![None; graph.nodes.len()];
    for (position, node) in graph.nodes.iter().enumerate().rev() {
        if let Some((op, indices)) = indices(node).filter(|_| stays(position)) {
            indices.for_each(|index| by_value[index.index()] = Some(op));
        }
        if let Some(op) = node.outputs.iter().find_map(|output| by_value[output.index()]) {
            by_node[position] = Some(op.clone());
            node.operands().iter().for_each(|operand| by_value[operand.index()] = Some(op));
        }
    }
    by_node
}

/// The first node that is not one of `members` and has an index that comes from them.
pub(crate) fn index_reached<'g>(graph: &'g Graph, members: &FixedBitSet, reached: &[bool]) -> Option<&'g OpName> {
    let others = graph.nodes.iter().enumerate().filter(|(position, _)| !members.contains(*position));
    let mut indexed = others.filter_map(|(_, node)| indices(node));
    indexed.find_map(|(op, mut indices)| indices.any(|index| reached[index.index()]).then_some(op))
}
