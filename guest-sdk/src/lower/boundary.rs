//! Where a set of nodes ends.

use super::analysis::Analysis;
use fixedbitset::FixedBitSet;
use passhost_ir::ValueId;

/// What of a set of nodes is visible from outside.
pub(super) struct Boundary {
    /// Results of members that something else reads.
    pub(super) results: Vec<ValueId>,
    /// Views between members that nothing else reads.
    pub(super) covered: Vec<usize>,
}

impl Boundary {
    pub(super) fn of(analysis: &Analysis<'_>, members: &FixedBitSet) -> Boundary {
        let (graph, uses) = (analysis.graph, &analysis.uses);
        let first = members.minimum().unwrap_or(0);
        let mut outside = vec![false; graph.values.len()];
        let mut inside_view = vec![false; graph.nodes.len()];
        // Readers come later, so backwards each is settled before what it reads.
        for (position, node) in graph.nodes.iter().enumerate().skip(first).rev() {
            for &output in &node.outputs {
                let mut readers = uses.readers(output).iter();
                let stays = |&reader: &usize| !members.contains(reader) && !inside_view[reader];
                outside[output.index()] = uses.is_output(output) || readers.any(stays);
            }
            inside_view[position] =
                node.outputs.iter().all(|output| !outside[output.index()]) && analysis.is_view(position);
        }
        let results = members.ones().flat_map(|member| graph.nodes[member].outputs.clone());
        let results = results.filter(|output| outside[output.index()]).collect();
        let reached = analysis.reached(members);
        let depends = |position: usize| analysis.operands[position].iter().any(|operand| reached[operand.index()]);
        let covered = (first..graph.nodes.len())
            .filter(|&position| inside_view[position] && !members.contains(position) && depends(position))
            .collect();
        Boundary { results, covered }
    }
}
