//! Which nodes of a graph became which kernel of its rewrite.

use passhost_ir::{Graph, Node, NodeKind, ValueId, counterparts};
use passhost_result::document::Graphs;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Bytes of a text that is taken apart; whoever writes documents keeps shorter ones.
const LIMIT: usize = 64 << 10;

/// A graph and its rewrite, node by node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fusion {
    /// The nodes of the graph, and what became of each.
    pub before: Vec<(String, NodeFate)>,
    /// The nodes of the rewrite. A kernel has its number, from 0, and its text in several lines.
    pub after: Vec<(String, Option<usize>)>,
}

/// What became of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeFate {
    /// It is in the rewrite.
    Kept,
    /// It is calculated by these kernels, several if each calculates it for itself.
    Fused(Vec<usize>),
    /// Neither: nothing needs it any more, or something that is no kernel took its place.
    Gone,
}

/// Takes both graphs apart. `None` where they are no graphs, or long ones.
///
/// A kernel calculates what lies between the values that it reads and those that it writes, where the rewrite says which
/// values of the graph these are; where it does not, the next kernel that does is named.
pub fn fusion(graphs: &Graphs) -> Option<Fusion> {
    let (before, after) = both(graphs)?;
    let kept: HashSet<_> = after.nodes.iter().filter(|node| !is_kernel(node)).map(|node| node.id).collect();
    let kernels: Vec<&Node> = after.nodes.iter().filter(|node| is_kernel(node)).collect();
    let originals = counterparts(&before, &after);
    let mut fused: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, kernel) in kernels.iter().enumerate() {
        for node in between(&before, kernel, &originals) {
            if !kept.contains(&before.nodes[node].id) {
                fused.entry(node).or_default().push(number);
            }
        }
    }
    let fate = |(at, node): (usize, &Node)| match fused.remove(&at) {
        _ if kept.contains(&node.id) => NodeFate::Kept,
        Some(kernels) => NodeFate::Fused(kernels),
        None => NodeFate::Gone,
    };
    let fates: Vec<NodeFate> = before.nodes.iter().enumerate().map(fate).collect();
    let numbers = |node: &Node| kernels.iter().position(|kernel| kernel.id == node.id);
    Some(Fusion {
        before: before.nodes.iter().map(|node| before.node_text(node)).zip(fates).collect(),
        after: after.nodes.iter().map(|node| (after.node_text(node), numbers(node))).collect(),
    })
}

/// A graph and its rewrite. `None` where they are no graphs, or long ones.
pub(crate) fn both(graphs: &Graphs) -> Option<(Graph, Graph)> {
    let is_long = graphs.before.len().max(graphs.after.len()) > LIMIT;
    if is_long { None } else { Some((Graph::parse(&graphs.before).ok()?, Graph::parse(&graphs.after).ok()?)) }
}

fn is_kernel(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Kernel { .. })
}

/// The nodes of the graph between what a kernel reads and what it writes.
fn between(before: &Graph, kernel: &Node, originals: &[Option<ValueId>]) -> BTreeSet<usize> {
    let of = |values: &[ValueId]| -> Vec<ValueId> {
        values.iter().filter_map(|value| originals.get(value.index()).copied().flatten()).collect()
    };
    let definitions = before.definitions();
    let read: HashSet<ValueId> = of(&kernel.operands()).into_iter().collect();
    let mut left: Vec<ValueId> = of(&kernel.outputs);
    let mut found = BTreeSet::new();
    while let Some(value) = left.pop() {
        let node = definitions.get(value.index()).copied().flatten().filter(|_| !read.contains(&value));
        if let Some(node) = node.filter(|node| found.insert(*node)) {
            left.extend(before.nodes[node].operands());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "graph(%x: f32[8], %w: f32[8, 8]) {
        #0 %a: f32[8] = aten::exp(%x)
        #1 %b: f32[8] = aten::relu(%a)
        #2 %c: f32[8] = aten::mv(%w, %b)
        #3 %d: f32[8] = aten::neg(%c)
        return (%d)
    }";

    fn after(first: &str) -> String {
        format!(
            "graph(%x: f32[8], %w: f32[8, 8]) {{
               {first}
               #2 %c: f32[8] = aten::mv(%w, %k)
               #3 %d: f32[8] = aten::neg(%c)
               return (%d)
             }}"
        )
    }

    #[test]
    fn nodes_between_what_a_kernel_reads_and_writes_are_its_own() {
        let kernel = "#9 %k: f32[8] = kernel(%x) {
            space p0=8
            in x0: f32[8]
            i0 = p0
            v0: f32 = load x0[i0] clamp
            v1: f32 = exp v0
            v2: f32 = const 0.0
            v3: f32 = max v1, v2
            out v3 over [p0] as [8]
        }";
        let texts = [after(kernel), after("#9 %k: f32[8] = aten::abs(%x)")];
        let fates = texts.map(|after| {
            let fusion = fusion(&Graphs { before: BEFORE.into(), after })?;
            Some(fusion.before.into_iter().map(|(_, fate)| fate).collect::<Vec<NodeFate>>())
        });
        let fused = || NodeFate::Fused(vec![0]);
        assert_eq!(fates[0], Some(vec![fused(), fused(), NodeFate::Kept, NodeFate::Kept]));
        assert_eq!(fates[1], Some(vec![NodeFate::Gone, NodeFate::Gone, NodeFate::Kept, NodeFate::Kept]));
    }

    #[test]
    fn what_is_no_graph_is_not_taken_apart() {
        for text in ["", "graph(%x: f32[8]) { return (%y) }", &"x".repeat(LIMIT + 1)] {
            assert_eq!(fusion(&Graphs { before: BEFORE.into(), after: text.into() }), None);
        }
    }
}
