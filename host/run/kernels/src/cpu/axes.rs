//! Which axes a plan makes its inner axes.

use crate::access::{AxisSet, KernelAnalysis, axes_in_store_order};
use passhost_ir::Kernel;
use passhost_ir::kernel::Op;

/// What a value costs beside a load, roughly, in simple vector operations.
fn weight(op: &Op) -> u64 {
    match op {
        Op::Const(_) | Op::Load { .. } => 0,
        Op::Index(_) => 2,
        Op::Unary(op, _) => op.cost(),
        Op::Binary(op, ..) => op.cost(),
        _ => 1,
    }
}

/// Row axes and inner axes, each outermost first. `most` are the inner points of which all in a row fit a strip.
pub(crate) fn split_axes(kernel: &Kernel, analysis: &KernelAnalysis, most: i64) -> (Vec<usize>, Vec<usize>) {
    let (parallel, all) = (kernel.parallel.len(), kernel.parallel.len() + kernel.reduce.len());
    if analysis.reduces || kernel.stores.iter().any(|store| store.order.len() < all) {
        return (axes_in_store_order(kernel, |axis| axis < parallel), (parallel..all).collect());
    }
    let mut row = axes_in_store_order(kernel, |_| true);
    let mut best = (0, row.len());
    for at in 0..row.len() {
        let inner: AxisSet = row[at..].iter().fold(0, |set, axis| set | 1 << axis);
        let extent = |axes: &[usize]| axes.iter().map(|a| kernel.extent(*a as u32).unwrap_or(1)).product::<i64>();
        let length = extent(&row[at..]);
        // Rows must be many enough for the threads and long enough for vectors.
        if length < 16 || extent(&row[..at]) < 16 {
            continue;
        }
        // What is computed once for each row, or once for all of them.
        let saves = |depends: AxisSet| depends & inner == 0 || (depends & !inner == 0 && length <= most);
        let gain: u64 = (0..kernel.body.len())
            .filter(|i| analysis.needed[*i])
            .map(|i| match &kernel.body[i].op {
                // Its indices are, if they are no rows' themselves.
                Op::Load { index, .. } => {
                    let opaque = index.iter().filter(|id| analysis.forms[id.0 as usize].affine.is_none());
                    let serves = opaque.clone().all(|id| analysis.forms[id.0 as usize].depends & inner == 0);
                    if serves && opaque.count() > 0 { 16 } else { 0 }
                }
                op if saves(analysis.depends[i]) => weight(op),
                _ => 0,
            })
            .sum();
        if gain > best.0 {
            best = (gain, at);
        }
    }
    // A few additions are not worth a tile of their own.
    let inner = row.split_off(if best.0 >= 3 { best.1 } else { row.len() });
    (row, inner)
}
