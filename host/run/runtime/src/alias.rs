//! Who shares whose memory, and who may overwrite it.

use passhost_ir::alias::aliasing;
use passhost_ir::{Graph, NodeId, NodeKind, OpTable, Schema, ValueId};
use std::collections::{HashMap, HashSet};

/// Nodes whose first operand is a fresh tensor of the type of their result that only this node reads, so that the node may
/// overwrite it.
pub fn reusable(graph: &Graph) -> HashSet<NodeId> {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    for value in graph.nodes.iter().flat_map(|node| node.operands()).chain(graph.outputs.iter().copied()) {
        *uses.entry(value).or_default() += 1;
    }
    let mut fresh: HashSet<ValueId> = HashSet::new();
    let mut reusable = HashSet::new();
    for node in &graph.nodes {
        let first = node.operands().first().copied();
        let is_alike = |value| node.outputs.first().is_some_and(|result| graph.ty(value) == graph.ty(*result));
        if first.is_some_and(|value| fresh.contains(&value) && uses.get(&value) == Some(&1) && is_alike(value)) {
            reusable.insert(node.id);
        }
        // Overwriting a fresh tensor leaves a tensor that is as fresh.
        if aliasing(graph, node, OpTable::all()).sources().is_empty() {
            fresh.extend(&node.outputs);
        }
    }
    reusable
}

/// Positions of the inputs that the program overwrites, directly or through a view.
pub fn mutated_inputs(graph: &Graph) -> Vec<usize> {
    let inputs = graph.inputs.iter().enumerate();
    let mut roots: HashMap<ValueId, Vec<usize>> = inputs.map(|(position, &value)| (value, vec![position])).collect();
    let mut mutated = vec![];
    for node in &graph.nodes {
        let alias = aliasing(graph, node, OpTable::all());
        let shared: Vec<usize> =
            alias.sources().iter().filter_map(|value| roots.get(value)).flatten().copied().collect();
        let writes = |op| OpTable::all().get(op).is_some_and(Schema::is_in_place);
        if matches!(&node.kind, NodeKind::Aten { op, .. } if writes(op)) {
            mutated.extend(&shared);
        }
        roots.extend(node.outputs.iter().map(|&output| (output, shared.clone())));
    }
    mutated.sort_unstable();
    mutated.dedup();
    mutated
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_input_written_through_a_view_is_mutated() {
        let text = "graph(%x: f32[4,8], %y: f32[8,4]) {\n  %0: f32[8,4]{1,8} = aten::t(%x)\n  %1: f32[8,4]{1,8} = aten::add_.Tensor(%0, %y)\n  %2: f32[8,4] = aten::add.Tensor(%y, %y)\n  %3: f32[8,4] = aten::relu_(%2)\n  return (%1, %3)\n}\n";
        let graph = Graph::parse(text).unwrap();
        assert_eq!(mutated_inputs(&graph), [0]);
        // Only what `%2` holds is fresh and read by one node.
        assert_eq!(reusable(&graph), HashSet::from([graph.nodes[3].id]));
    }
}
