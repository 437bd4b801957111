//! Why nodes are left as they are.

use crate::indexing::pinned_by;
use crate::lower::LowerError;
use crate::lower::analysis::GraphAnalysis;
use crate::lower::contraction;
use crate::lower::rule::Recipe;
use crate::rewriter::NodeRefusal;
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::limits;
use std::collections::BTreeMap;

/// For each node why it lowers to no kernel, or should not: of products only those that are `wanted` do. Where an index
/// of an op comes from nothing changes, unless the op `becomes_kernel` itself.
pub(in crate::lower) fn refused(
    analysis: &GraphAnalysis<'_>,
    becomes_kernel: impl Fn(usize) -> bool,
    wanted: contraction::Check,
) -> Vec<Option<LowerError>> {
    let graph = analysis.graph;
    let pinned = pinned_by(graph, |position| !becomes_kernel(position));
    let lowers = |position: usize| -> Result<(), LowerError> {
        let node = analysis.node(position);
        if let Some(op) = &pinned[position] {
            return Err(LowerError::Index(op.to_string()));
        }
        if let Recipe::Contraction(contraction) = analysis.recipe(position).map_err(Clone::clone)?
            && !wanted(contraction, graph)
            && analysis.tile(position).is_none()
        {
            return Err(LowerError::Large(analysis.name(position)));
        }
        for (output, &value) in node.outputs.iter().enumerate() {
            if analysis.is_read(value) {
                analysis.footprint(position, output).map_err(Clone::clone)?;
            }
            let (ty, name) = (graph.ty(value), || graph.value(value).name.clone());
            if ty.numel() == 0 {
                return Err(LowerError::Empty(name()));
            }
            if ty.rank() > limits::PARALLEL_AXES {
                return Err(LowerError::Rank(name(), ty.rank()));
            }
        }
        Ok(())
    };
    (0..graph.nodes.len()).map(|position| lowers(position).err()).collect()
}

/// The nodes at some positions by reason, in the order of the first of each.
pub(in crate::lower) fn by_reason(
    analysis: &GraphAnalysis<'_>,
    found: impl IntoIterator<Item = (usize, String)>,
) -> Vec<NodeRefusal> {
    let mut by_reason: BTreeMap<String, FixedBitSet> = BTreeMap::new();
    for (position, reason) in found {
        by_reason.entry(reason).or_default().grow_and_insert(position);
    }
    let mut by_first: BTreeMap<(usize, String), FixedBitSet> = BTreeMap::new();
    for (reason, positions) in by_reason {
        by_first.insert((positions.minimum().unwrap_or(0), reason), positions);
    }
    let refusal = |((_, reason), positions): ((usize, String), FixedBitSet)| {
        let nodes = positions.ones().map(|position| analysis.node(position).id).collect();
        NodeRefusal { nodes, reason }
    };
    by_first.into_iter().map(refusal).collect()
}
