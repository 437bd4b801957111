//! Which axes a plan makes its inner axes.

use crate::access::{AxisSet, KernelAnalysis, axes_in_store_order};
use passhost_ir::Kernel;
use passhost_ir::kernel::Op;

/// What a value costs beside a load, roughly, in simple vector operations.
fn weight(op: &Op) -> u64 {
    match op {
        Op::Const(_) | Op::Load { .. } | Op::Index(_) => 0,
        Op::Unary(op, _) => op.cost(),
        Op::Binary(op, ..) => op.cost(),
        _ => 1,
    }
}

/// Row axes and inner axes, each outermost first.
pub(crate) fn split_axes(kernel: &Kernel, analysis: &KernelAnalysis) -> (Vec<usize>, Vec<usize>) {
    let (parallel, all) = (kernel.parallel.len(), kernel.parallel.len() + kernel.reduce.len());
    if analysis.reduces || kernel.stores.iter().any(|store| store.order.len() < all) {
        return (axes_in_store_order(kernel, |axis| axis < parallel), (parallel..all).collect());
    }
    let mut row = axes_in_store_order(kernel, |_| true);
    let mut best = (0, row.len());
    for at in 0..row.len() {
        let inner: AxisSet = row[at..].iter().fold(0, |set, axis| set | 1 << axis);
        let extent = |axes: &[usize]| axes.iter().map(|a| kernel.extent(*a as u32).unwrap_or(1)).product::<i64>();
        // Rows must be many enough for the threads and long enough for vectors.
        if extent(&row[at..]) < 16 || extent(&row[..at]) < 16 {
            continue;
        }
        let gain: u64 = (0..kernel.body.len())
            .filter(|i| analysis.needed[*i] && analysis.depends[*i] & inner == 0)
            .map(|i| weight(&kernel.body[i].op))
            .sum();
        if gain > best.0 {
            best = (gain, at);
        }
    }
    // A few additions are not worth a tile of their own.
    let inner = row.split_off(if best.0 >= 4 { best.1 } else { row.len() });
    (row, inner)
}
