//! Results that kernels alone read, row by row in memory.
//!
//! ATen lays a result as the first of its operands lies. One permuted image at the start of a model makes the sums of all
//! its layers permuted, and each norm over them reads a column where a row would be together. A kernel reads any layout and
//! rounds alike in each, so that nobody can tell where a tensor lies between two of them.

use super::{FusionPlan, fuse};
use crate::lower::{GraphAnalysis, Group};
use crate::rewriter::{Rewriter, channels_last};
use passhost_ir::{DeviceFacts, Graph, NodeId, TensorType, ValueId, contiguous_strides};
use std::collections::HashSet;

/// Has the kernels of a plan lay what nothing else reads in row-major order, where that is estimated to take less time.
/// Returns the plan for the graph as it is then, and how many results lie otherwise.
pub fn lay_row_major(
    rewriter: &mut Rewriter,
    device: &DeviceFacts,
    groups: &[Group],
    plan: FusionPlan,
) -> (FusionPlan, usize) {
    let mut results = plan.kernels.iter().flat_map(|fused| &fused.lowered.outputs);
    if results.all(|result| result.permutation.is_none()) {
        return (plan, 0);
    }
    let graph = rewriter.graph();
    let moved = between(graph, &plan, groups).into_iter().map(|value| (value, graph.ty(value)));
    let mut moved: Vec<(ValueId, Vec<i64>)> = moved
        .filter(|(_, ty)| !ty.is_contiguous() && !has_channels_last(ty))
        .map(|(value, ty)| (value, contiguous_strides(&ty.shape)))
        .collect();
    rewriter.swap_strides(&mut moved);
    let other = fuse(rewriter.graph(), device, groups);
    let held = between(rewriter.graph(), &other, groups);
    if other.rewritten < plan.rewritten && moved.iter().all(|(value, _)| held.contains(value)) {
        return (FusionPlan { eager: plan.eager, ..other }, moved.len());
    }
    rewriter.swap_strides(&mut moved);
    (plan, 0)
}

/// Whether a tensor holds images that lie as the library's convolutions take them.
fn has_channels_last(ty: &TensorType) -> bool {
    ty.rank() == 4 && *ty == channels_last(ty)
}

/// The results of the kernels of a plan that nothing but these kernels reads, themselves or through views.
fn between(graph: &Graph, plan: &FusionPlan, groups: &[Group]) -> Vec<ValueId> {
    let analysis = GraphAnalysis::of(graph, groups);
    let fused: HashSet<NodeId> = plan.kernels.iter().flat_map(|fused| fused.lowered.nodes()).copied().collect();
    let mut found = vec![];
    // Values that something else reads. Readers stand behind what they read.
    let mut is_known: Vec<bool> = vec![false; graph.values.len()];
    graph.outputs.iter().for_each(|output| is_known[output.index()] = true);
    for (position, node) in graph.nodes.iter().enumerate().rev() {
        let (is_view, is_fused) = (analysis.is_view(position), fused.contains(&node.id));
        if is_fused && !is_view {
            found.extend(node.outputs.iter().copied().filter(|output| !is_known[output.index()]));
        } else if !is_fused && (!is_view || node.outputs.iter().any(|output| is_known[output.index()])) {
            analysis.links.operands[position].iter().for_each(|operand| is_known[operand.index()] = true);
        }
    }
    found
}
