//! What a rewrite calculates from nothing.

use crate::{Graph, Node, NodeId, NodeKind, ValueId};
use std::collections::{HashMap, HashSet};

/// Nodes of a rewrite that `original` does not have and whose results are the same in every run: none of what they read
/// depends on an input or on a node of the original. A node that returns an output of the graph is left out.
///
/// Nothing that a rewrite may insert draws random numbers or writes to its operands.
pub fn constant_nodes(rewrite: &Graph, original: &Graph) -> HashSet<NodeId> {
    let kept: HashMap<NodeId, &NodeKind> = original.nodes.iter().map(|node| (node.id, &node.kind)).collect();
    let is_inserted = |node: &Node| match (kept.get(&node.id), &node.kind) {
        (Some(NodeKind::Aten { op: before, .. }), NodeKind::Aten { op, .. }) => before != op,
        _ => true,
    };
    let mut constant: HashSet<ValueId> = HashSet::new();
    let mut nodes = HashSet::new();
    for node in &rewrite.nodes {
        let is_returned = node.outputs.iter().any(|output| rewrite.outputs.contains(output));
        if is_inserted(node) && !is_returned && node.operands().iter().all(|operand| constant.contains(operand)) {
            constant.extend(&node.outputs);
            nodes.insert(node.id);
        }
    }
    nodes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_a_rewrite_inserts_and_no_input_reaches_is_constant() {
        let original = "graph(%x: f32[4]) {
  %a: f32[4] = aten::ones([4])
  %b: f32[4] = aten::add.Tensor(%x, %a)
  return (%b)
}
";
        let original = Graph::parse(original).unwrap();
        assert!(constant_nodes(&original, &original).is_empty());
        // Nodes 0 and 1 are the original's; 2 reads one of them, 3 and 4 read nothing else, 5 reads an input.
        let rewrite = "graph(%x: f32[4]) {
  %a: f32[4] = aten::ones([4])
  %c: f32[4] = aten::relu(%a)
  %d: f32[4] = aten::zeros([4])
  %e: f32[4] = aten::exp(%d)
  %f: f32[4] = aten::mul.Tensor(%x, %e)
  %g: f32[4] = aten::zeros([4])
  %b: f32[4] = aten::add.Tensor(%f, %c)
  return (%b, %g)
}
";
        let mut rewrite = Graph::parse(rewrite).unwrap();
        for (node, id) in rewrite.nodes.iter_mut().zip([0, 2, 3, 4, 5, 6, 1]) {
            node.id = NodeId(id);
        }
        assert_eq!(constant_nodes(&rewrite, &original), HashSet::from([NodeId(3), NodeId(4)]));
        // Another op under a number of the original's is inserted too.
        rewrite.nodes[2].id = NodeId(0);
        rewrite.nodes[0].id = NodeId(7);
        assert_eq!(constant_nodes(&rewrite, &original), [0, 2, 4, 7].map(NodeId).into());
    }
}
