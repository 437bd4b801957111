//! Parts that are put back into what they are parts of: what eager writes in place, a functional graph has as a copy of the
//! whole with another part, and the host's runtime writes in place again where nobody can tell.

use super::analysis::GraphAnalysis;
use passhost_ir::ops::{Puts, puts};
use passhost_ir::{Node, NodeKind, ValueId};

/// A scatter of a part into a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WriteBack {
    /// What is written to.
    pub(super) whole: ValueId,
    /// What is put there.
    pub(super) part: ValueId,
    /// What calculates the part where it lies, so that eager has nothing to put back.
    pub(super) writer: Option<usize>,
    /// Whether a rewrite that keeps the node writes in place as well, because nobody else holds the whole, or reads it
    /// later.
    pub(super) is_free: bool,
}

impl WriteBack {
    /// For each node of a graph what it is as one.
    pub(super) fn all(analysis: &GraphAnalysis<'_>) -> Vec<Option<WriteBack>> {
        let nodes = &analysis.graph.nodes;
        let mut found = vec![None; nodes.len()];
        if !nodes.iter().any(|node| part_of(node).is_some()) {
            return found;
        }
        let held = TensorReaders::of(analysis);
        // For each node the scatters that put its result back, one into the other: they may read the whole after it.
        let mut behind: Vec<Vec<usize>> = vec![vec![]; nodes.len()];
        for position in (0..nodes.len()).rev() {
            let Some(write_back) = WriteBack::of(analysis, &held, position, &behind[position]) else { continue };
            if let Some(writer) = write_back.writer.filter(|_| write_back.is_free) {
                let mut scatters = std::mem::take(&mut behind[position]);
                scatters.push(position);
                behind[writer] = scatters;
            }
            found[position] = Some(write_back);
        }
        found
    }

    fn of(analysis: &GraphAnalysis<'_>, held: &TensorReaders, position: usize, behind: &[usize]) -> Option<WriteBack> {
        let node = analysis.node(position);
        let puts = part_of(node)?;
        let &[whole, part] = &analysis.links.operands[position][..] else { return None };
        let root = analysis.root(whole).source;
        let writer = analysis.links.definitions[part.index()].filter(|&writer| {
            let reads_part =
                |operand: &ValueId| analysis.step(*operand).is_some() && analysis.root(*operand).source == root;
            part_of(analysis.node(writer)).is_some() || analysis.links.operands[writer].iter().any(reads_part)
        });
        let is_last = held.readers[root.index()].iter().all(|reader| *reader <= position || behind.contains(reader));
        let is_free = puts != Puts::Other && held.is_own[root.index()] && is_last && analysis.root(part).source != root;
        Some(WriteBack { whole, part, writer, is_free })
    }
}

/// Which part of a tensor a node writes, if it is a scatter. The runtime writes those in place of which it knows.
fn part_of(node: &Node) -> Option<Puts> {
    let NodeKind::Aten { op, .. } = &node.kind else { return None };
    puts(&op.name).copied().filter(|puts| *puts != Puts::Whole)
}

/// Who reads tensors, themselves or through views.
struct TensorReaders {
    /// For each value the nodes that read it.
    readers: Vec<Vec<usize>>,
    /// For each value whether it is the rewrite's to write to: neither an input nor returned.
    is_own: Vec<bool>,
}

impl TensorReaders {
    fn of(analysis: &GraphAnalysis<'_>) -> TensorReaders {
        let graph = analysis.graph;
        let is_own = analysis.links.definitions.iter().map(Option::is_some).collect();
        let mut held = TensorReaders { readers: vec![vec![]; graph.values.len()], is_own };
        for (position, operands) in analysis.links.operands.iter().enumerate() {
            for &operand in operands {
                held.readers[analysis.root(operand).source.index()].push(position);
            }
        }
        for &output in &graph.outputs {
            held.is_own[analysis.root(output).source.index()] = false;
        }
        held
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::Graph;

    /// For each scatter of a graph whether it is free, and whether its part is calculated where it lies.
    fn found(body: &str, outputs: &str) -> Vec<(bool, bool)> {
        let text = format!("graph(%x: f32[6,4], %y: f32[2,4]) {{\n{body}  return ({outputs})\n}}\n");
        let graph = Graph::parse(&text).unwrap();
        let found = WriteBack::all(&GraphAnalysis::of(&graph, &[]));
        found.into_iter().flatten().map(|write_back| (write_back.is_free, write_back.writer.is_some())).collect()
    }

    const FRESH: &str = "  %a: f32[6,4] = aten::relu(%x)\n";
    const SLICE: &str = "  %b: f32[2,4] = aten::slice.Tensor(%a, 0, 1, 3, 1)\n";
    const PRODUCT: &str = "  %c: f32[2,4] = aten::mul.Tensor(%b, %y)\n";
    const SCATTER: &str = "  %d: f32[6,4] = aten::slice_scatter(%a, %c, 0, 1, 3, 1)\n";
    const INNER: &str = "  %e: f32[2,2]{4,1} = aten::slice.Tensor(%b, 1, 0, 2, 1)
  %f: f32[2,2] = aten::mul.Tensor(%e, %e)
  %c: f32[2,4] = aten::slice_scatter(%b, %f, 1, 0, 2, 1)\n";

    #[test]
    fn scatters_are_free_where_the_runtime_writes_in_place() {
        let cases = [
            ("as eager does", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d", vec![(true, true)]),
            (
                "something else is copied there",
                [FRESH, &SCATTER.replace("%c", "%y")].concat(),
                "%d",
                vec![(true, false)],
            ),
            (
                "an input",
                [&SLICE.replace("%a", "%x"), PRODUCT, &SCATTER.replace("%a", "%x")].concat(),
                "%d",
                vec![(false, true)],
            ),
            ("returned too", [FRESH, SLICE, PRODUCT, SCATTER].concat(), "%d, %b", vec![(false, true)]),
            (
                "read later",
                [FRESH, SLICE, PRODUCT, SCATTER, "  %e: f32[2,4] = aten::relu(%b)\n"].concat(),
                "%d, %e",
                vec![(false, true)],
            ),
            ("a part of a part", [FRESH, SLICE, INNER, SCATTER].concat(), "%d", vec![(true, true), (true, true)]),
            (
                "a part of a part that is read later",
                [FRESH, SLICE, INNER, SCATTER, "  %g: f32[2,2] = aten::relu(%e)\n"].concat(),
                "%d, %g",
                vec![(false, true), (false, true)],
            ),
        ];
        for (title, body, outputs, expected) in cases {
            assert_eq!(found(&body, outputs), expected, "{title}");
        }
    }
}
