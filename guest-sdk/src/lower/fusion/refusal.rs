//! Why nodes are left as they are.

use crate::indexing::pinned_by;
use crate::lower::LowerError;
use crate::lower::analysis::Analysis;
use crate::rewriter::Refusal;
use passhost_ir::Node;
use passhost_ir::kernel::limits;
use std::collections::{BTreeMap, BTreeSet};

/// For each node why it lowers to no kernel, `check` included. Where an index of an op comes from nothing changes, unless
/// the op `becomes_kernel` itself.
pub(in crate::lower) fn refused(
    analysis: &Analysis<'_>,
    becomes_kernel: impl Fn(usize) -> bool,
    check: impl Fn(&Node) -> Result<(), LowerError>,
) -> Vec<Option<LowerError>> {
    let graph = analysis.graph;
    let pinned = pinned_by(graph, |position| !becomes_kernel(position));
    let lowers = |position: usize| -> Result<(), LowerError> {
        let node = analysis.node(position);
        if let Some(op) = &pinned[position] {
            return Err(LowerError::Index(op.to_string()));
        }
        check(node)?;
        analysis.recipe(position)?;
        for (output, &value) in node.outputs.iter().enumerate() {
            if analysis.is_read(value) {
                analysis.footprint(position, output)?;
            }
            let (ty, name) = (graph.ty(value), || graph.value(value).name.clone());
            if ty.numel() == 0 {
                return Err(LowerError::Empty(name()));
            }
            if ty.rank() > limits::PARALLEL_AXES {
                return Err(LowerError::Rank { name: name(), rank: ty.rank() });
            }
        }
        Ok(())
    };
    (0..graph.nodes.len()).map(|position| lowers(position).err()).collect()
}

/// The nodes at some positions by reason, in the order of the first of each.
pub(in crate::lower) fn by_reason(
    analysis: &Analysis<'_>,
    found: impl IntoIterator<Item = (usize, String)>,
) -> Vec<Refusal> {
    let mut by_reason: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (position, reason) in found {
        by_reason.entry(reason).or_default().insert(position);
    }
    let mut reasons: Vec<(String, BTreeSet<usize>)> = by_reason.into_iter().collect();
    reasons.sort_by_key(|(_, positions)| positions.first().copied());
    let refusal = |(reason, positions): (String, BTreeSet<usize>)| {
        let nodes = positions.into_iter().map(|position| analysis.node(position).id).collect();
        Refusal { nodes, reason }
    };
    reasons.into_iter().map(refusal).collect()
}
