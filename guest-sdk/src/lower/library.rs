//! What calls of ATen are estimated to take, where eager makes them and where a rewrite keeps them.

use super::analysis::Analysis;
use super::cost::Model;
use super::space::tensors;
use super::work::Work;
use passhost_ir::{DeviceFacts, Graph, Node, NodeKind, ValueId, numel};

/// Ops of which ATen makes several calls, and how many.
const COMPOSITE: [(&str, f64); 4] =
    [("aten::rms_norm", 5.0), ("aten::logsumexp", 4.0), ("aten::one_hot", 3.0), ("aten::instance_norm", 3.0)];

/// Ops that write a part of a tensor. Eager does so in place where a graph was made functional.
const SCATTERS: [&str; 4] =
    ["aten::slice_scatter", "aten::select_scatter", "aten::diagonal_scatter", "aten::as_strided_scatter"];

/// Nanoseconds that ATen is estimated to take for each node of a graph on a device.
pub fn call_times(graph: &Graph, device: &DeviceFacts) -> Vec<f64> {
    Calls::of(&Analysis::of(graph, &[]), &Model::of(device)).kept
}

/// Estimates of the nodes of a graph, in nanoseconds.
pub(super) struct Calls {
    /// For each node what eager takes for it.
    pub(super) eager: Vec<f64>,
    /// For each node what a rewrite takes that keeps it. More than eager where a write in place has become a copy.
    pub(super) kept: Vec<f64>,
    /// For each node what there is to do.
    pub(super) works: Vec<Work>,
}

impl Calls {
    pub(super) fn of(analysis: &Analysis<'_>, model: &Model) -> Calls {
        let positions = 0..analysis.graph.nodes.len();
        let works: Vec<Work> = positions.map(|position| Work::of_node(analysis, model, position)).collect();
        let kept = |(position, work): (usize, &Work)| kept(analysis, model, position, work);
        let kept: Vec<f64> = works.iter().enumerate().map(kept).collect();
        let in_place = |(position, &kept): (usize, &f64)| if is_in_place(analysis, position) { 0.0 } else { kept };
        Calls { eager: kept.iter().enumerate().map(in_place).collect(), kept, works }
    }
}

fn kept(analysis: &Analysis<'_>, model: &Model, position: usize, work: &Work) -> f64 {
    let node = analysis.node(position);
    if analysis.is_view(position) {
        return model.view();
    }
    let (NodeKind::Aten { op, .. }, false) = (&node.kind, node.outputs.is_empty()) else { return model.kernel(work) };
    let calls = COMPOSITE.iter().find(|(name, _)| *name == op.name).map_or(1.0, |(_, calls)| *calls);
    // A scatter copies the whole and then the part.
    let calls = if SCATTERS.contains(&op.name.as_str()) { 2.0 } else { calls };
    let products = products(analysis, node, &op.name);
    let is_half = analysis.graph.ty(node.outputs[0]).dtype.size() == 2;
    (calls * model.call(work)).max(model.products(products, is_half))
}

/// Multiplications and additions of an op that contracts; 0 for others.
fn products(analysis: &Analysis<'_>, node: &Node, name: &str) -> f64 {
    let graph = analysis.graph;
    let shape = |value: ValueId| &graph.ty(value).shape;
    let operands: Vec<ValueId> = tensors(node).map(|(_, operand)| operand).collect();
    let result = numel(shape(node.outputs[0])) as f64;
    let along = match (name.trim_start_matches("aten::"), &operands[..]) {
        ("mm" | "bmm" | "matmul" | "linear" | "mv" | "dot", [first, ..]) => shape(*first).last().copied(),
        ("addmm" | "baddbmm" | "addbmm" | "addmv", [_, first, ..]) => shape(*first).last().copied(),
        ("conv1d" | "conv2d" | "conv3d" | "convolution", [_, weight, ..]) => Some(shape(*weight)[1..].iter().product()),
        ("scaled_dot_product_attention", [query, key, ..]) => {
            let keys = shape(*key).iter().rev().nth(1).copied().unwrap_or(1);
            return 4.0 * numel(shape(*query)) as f64 * keys as f64;
        }
        _ => None,
    };
    2.0 * result * along.unwrap_or(0) as f64
}

/// Whether eager has made this scatter in place: what it puts back was itself written in place, or calculated from a view
/// of the part.
fn is_in_place(analysis: &Analysis<'_>, position: usize) -> bool {
    let node = analysis.node(position);
    let NodeKind::Aten { op, .. } = &node.kind else { return false };
    if !SCATTERS.contains(&op.name.as_str()) {
        return false;
    }
    let operands = &analysis.operands[position];
    let &[whole, part] = &operands[..] else { return false };
    let Some(writer) = analysis.definitions[part.index()] else { return false };
    let is_scatter =
        matches!(&analysis.node(writer).kind, NodeKind::Aten { op, .. } if SCATTERS.contains(&op.name.as_str()));
    let whole = analysis.root(whole).source;
    let reads_part = |operand: &ValueId| analysis.step(*operand).is_some() && analysis.root(*operand).source == whole;
    is_scatter || analysis.operands[writer].iter().any(reads_part)
}
