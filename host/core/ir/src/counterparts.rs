//! Which values of a rewrite stand for which values of the graph that it was made of.

use crate::{Graph, Node, NodeId, ValueId};
use std::collections::HashMap;

/// For each value of a rewrite, the value of the original that it should equal, where the graphs tell: inputs by their
/// position, results of kept nodes, outputs by their position, and what kept nodes read.
///
/// None of that is a promise of the rewrite's but outputs: a pass may keep a node and give it another operand, if what
/// comes of it is made up for later.
pub fn counterparts(original: &Graph, rewritten: &Graph) -> Vec<Option<ValueId>> {
    let originals: HashMap<NodeId, &Node> = original.nodes.iter().map(|node| (node.id, node)).collect();
    let kept: Vec<(&Node, &Node)> =
        rewritten.nodes.iter().filter_map(|node| Some((*originals.get(&node.id)?, node))).collect();
    let mut found = vec![None; rewritten.values.len()];
    let mut pair = |(before, after): (ValueId, ValueId)| {
        let (expected, own) = (original.ty(before), rewritten.ty(after));
        if expected.dtype == own.dtype && expected.shape == own.shape {
            found[after.index()].get_or_insert(before);
        }
    };
    let positions = |before: &[ValueId], after: &[ValueId]| -> Vec<(ValueId, ValueId)> {
        before.iter().copied().zip(after.iter().copied()).collect()
    };
    positions(&original.inputs, &rewritten.inputs).into_iter().for_each(&mut pair);
    kept.iter().flat_map(|(before, after)| positions(&before.outputs, &after.outputs)).for_each(&mut pair);
    positions(&original.outputs, &rewritten.outputs).into_iter().for_each(&mut pair);
    kept.iter().flat_map(|(before, after)| positions(&before.operands(), &after.operands())).for_each(&mut pair);
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn values_correspond_by_kept_nodes_what_they_read_and_outputs() {
        let original = Graph::parse(
            "graph(%x: f32[8], %w: f32[8]) {
               #0 %a: f32[8] = aten::exp(%x)
               #1 %b: f32[8] = aten::relu(%a)
               #2 %c: f32[8] = aten::mul.Tensor(%b, %w)
               #3 %d: f32[8] = aten::neg(%c)
               return (%d)
             }",
        );
        let rewritten = Graph::parse(
            "graph(%x: f32[8], %w: f32[8]) {
               #7 %p: f32[8] = aten::abs(%x)
               #8 %q: f32[8] = aten::relu(%p)
               #2 %r: f32[8] = aten::mul.Tensor(%q, %w)
               #9 %s: f32[8] = aten::neg(%r)
               return (%s)
             }",
        );
        let (original, rewritten) = (original.unwrap(), rewritten.unwrap());
        let named: Vec<(&str, Option<&str>)> = counterparts(&original, &rewritten)
            .into_iter()
            .zip(&rewritten.values)
            .map(|(before, after)| (after.name.as_str(), before.map(|id| original.value(id).name.as_str())))
            .collect();
        let expected =
            [("x", Some("x")), ("w", Some("w")), ("p", None), ("q", Some("b")), ("r", Some("c")), ("s", Some("d"))];
        assert_eq!(named, expected);
    }
}
