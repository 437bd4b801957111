//! What calls of ATen are estimated to take, where eager makes them and where a rewrite keeps them.

use super::analysis::GraphAnalysis;
use super::cost::{LibraryProducts, Model};
use super::work::WorkEstimate;
use super::write_back::WriteBack;
use crate::args::Args;
use passhost_ir::ops::{Products, calls, products};
use passhost_ir::{DeviceFacts, Graph, Node, NodeKind, ValueId, numel};

/// Elements of half types in 16 bytes.
const HALVES_AT_A_TIME: i64 = 8;

/// Nanoseconds that ATen is estimated to take for each node of a graph on a device.
pub fn call_times(graph: &Graph, device: &DeviceFacts) -> Vec<f64> {
    Calls::of(&GraphAnalysis::of(graph, &[]), &Model::of(device)).kept
}

/// Estimates of the nodes of a graph, in nanoseconds.
pub(super) struct Calls {
    /// For each node what eager takes for it.
    pub(super) eager: Vec<f64>,
    /// For each node what a rewrite takes that keeps it. More than eager where a write in place has become a copy.
    pub(super) kept: Vec<f64>,
    /// The same where a kernel calculates what it reads. More than `kept` where a part that lay in its place no longer does.
    pub(super) behind_kernel: Vec<f64>,
    /// For each node what there is to do.
    pub(super) works: Vec<WorkEstimate>,
    /// Nodes that calculate a part where it lies, each with the node that puts it back.
    writers: Vec<[usize; 2]>,
}

impl Calls {
    pub(super) fn of(analysis: &GraphAnalysis<'_>, model: &Model) -> Calls {
        let positions = 0..analysis.graph.nodes.len();
        let works: Vec<WorkEstimate> =
            positions.map(|position| WorkEstimate::of_node(analysis, &model.constants, position)).collect();
        let mut calls = Calls { eager: vec![], kept: vec![], behind_kernel: vec![], works, writers: vec![] };
        for (position, write_back) in WriteBack::all(analysis).into_iter().enumerate() {
            let Some(write_back) = write_back else {
                let kept = kept(analysis, model, position, &calls.works[position]);
                calls.push([kept; 3]);
                continue;
            };
            let copied = |value: ValueId| model.call(&WorkEstimate::of_copy(analysis, value));
            let put = model.view() + copied(write_back.part);
            let eager = if write_back.writer.is_some() { 0.0 } else { put };
            let whole = if write_back.is_free { 0.0 } else { copied(write_back.whole) };
            match write_back.writer.filter(|_| write_back.is_free) {
                Some(writer) => {
                    calls.writers.push([writer, position]);
                    calls.push([eager, 0.0, put]);
                }
                None => calls.push([eager, whole + put, whole + put]),
            }
        }
        calls
    }

    fn push(&mut self, [eager, kept, behind_kernel]: [f64; 3]) {
        self.eager.push(eager);
        self.kept.push(kept);
        self.behind_kernel.push(behind_kernel);
    }

    /// What a rewrite takes besides if a kernel stands for the nodes for which `is_member` holds: parts that they calculated
    /// where they lie must be put back.
    pub(super) fn write_back(&self, is_member: impl Fn(usize) -> bool) -> f64 {
        let moved = self.writers.iter().filter(|[writer, scatter]| is_member(*writer) && !is_member(*scatter));
        moved.map(|[_, scatter]| self.behind_kernel[*scatter] - self.kept[*scatter]).sum()
    }
}

fn kept(analysis: &GraphAnalysis<'_>, model: &Model, position: usize, work: &WorkEstimate) -> f64 {
    let node = analysis.node(position);
    if analysis.is_view(position) {
        return model.view();
    }
    let (NodeKind::Aten { op, .. }, false) = (&node.kind, node.outputs.is_empty()) else { return model.kernel(work) };
    let count = added(analysis, node, &op.name);
    if count > 0.0 {
        let is_half = analysis.graph.ty(node.outputs[0]).dtype.size() == 2;
        let products = LibraryProducts { count, is_half, is_aligned: is_aligned(analysis.graph, node, &op.name) };
        return model.product_call(work, analysis.tile(position), &products);
    }
    calls(&op.name).map_or(1.0, |&calls| f64::from(calls)) * model.call(work)
}

/// Whether the rows of all matrices of half types that a node multiplies, and of their product, begin at multiples of 16
/// bytes.
fn is_aligned(graph: &Graph, node: &Node, name: &str) -> bool {
    let is_of_matrices = matches!(products(name), Some(Products::First | Products::Second));
    let values = Args::of(node).single_tensors().map(|(_, operand)| operand).chain(node.outputs.iter().copied());
    let is_row = |(extent, stride): (&i64, &i64)| *extent == 1 || *stride == 1 || stride % HALVES_AT_A_TIME == 0;
    let begin = |value: ValueId| graph.ty(value).shape.iter().zip(&graph.ty(value).strides).all(is_row);
    !is_of_matrices || values.into_iter().all(begin)
}

/// Multiplications and additions of an op that contracts; 0 for others, and for convolutions of `f32` of which each channel
/// is a group: ATen's own kernels are slow there, and bytes are what takes time.
fn added(analysis: &GraphAnalysis<'_>, node: &Node, name: &str) -> f64 {
    let shape = |value: ValueId| &analysis.graph.ty(value).shape;
    let mut operands = Args::of(node).single_tensors().map(|(_, operand)| shape(operand));
    let result = numel(shape(node.outputs[0])) as f64;
    let is_half = analysis.graph.ty(node.outputs[0]).dtype.size() == 2;
    let is_dense = |x: &[i64], w: &[i64]| is_half || w[1] > 1 || x[x.len() + 1 - w.len()] == 1;
    let along = match (products(name), operands.next(), operands.next()) {
        (Some(Products::First), Some(first), _) | (Some(Products::Second), _, Some(first)) => first.last().copied(),
        (Some(Products::Convolution), Some(x), Some(w)) if is_dense(x, w) => Some(w[1..].iter().product()),
        (Some(Products::Attention), Some(query), Some(key)) => {
            return 4.0 * numel(query) as f64 * key.iter().rev().nth(1).copied().unwrap_or(1) as f64;
        }
        _ => None,
    };
    2.0 * result * along.unwrap_or(0) as f64
}
