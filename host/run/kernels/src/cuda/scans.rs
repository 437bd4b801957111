//! What accumulators of reductions and scans take, where scans begin anew, and in which order they are computed beside what they read and what reads them.

use super::space::AxisDomain;
use crate::access::{KernelAnalysis, axes_in_store_order};
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Kernel, Op, Reg};

/// Whether a kernel scans.
pub(super) fn scans(kernel: &Kernel, analysis: &KernelAnalysis) -> bool {
    kernel.body.iter().zip(&analysis.needed).any(|(inst, needed)| *needed && matches!(inst.op, Op::Scan(..)))
}

/// Bytes of the largest accumulator that a reduction or a scan of a kernel needs.
pub(super) fn accumulator_bytes(kernel: &Kernel, analysis: &KernelAnalysis) -> u64 {
    let needed = kernel.body.iter().zip(&analysis.needed).filter(|(_, needed)| **needed);
    let bytes = needed.filter_map(|(inst, _)| match inst.op {
        // A value and its position.
        Op::Reduce(op, _) if op.gives() == Gives::Position => Some(16),
        Op::Reduce(_, operand) | Op::Scan(_, operand) => Some(kernel.body[operand.0 as usize].dtype.size()),
        _ => None,
    });
    bytes.max().unwrap_or(0)
}

/// The rows and points of a kernel with scans, and whether a row is one run of each. It always is if nothing is there but
/// elements: then whatever a scan does not go along tells rows apart.
pub(super) fn scanned(kernel: &Kernel, analysis: &KernelAnalysis) -> (AxisDomain, AxisDomain, bool) {
    let (parallel, all) = (kernel.parallel.len(), kernel.parallel.len() + kernel.reduce.len());
    let reduces =
        kernel.body.iter().zip(&analysis.needed).any(|(inst, needed)| *needed && matches!(inst.op, Op::Reduce(..)));
    let of_elements = !reduces && kernel.stores.iter().all(|store| store.order.len() == all);
    let first = if of_elements { all - 1 } else { parallel };
    let rows = AxisDomain::new(kernel, axes_in_store_order(kernel, |axis| axis < first));
    let points = AxisDomain::new(kernel, (first..all).collect());
    let one_run = kernel.reduce.last().is_some_and(|last| points.points() == last.unsigned_abs());
    (rows, points, one_run)
}

/// Instructions between two scans of a chain of them: what needs no later scan, then the scans of it.
#[derive(Debug, Default)]
pub(super) struct ScanStage {
    pub(super) insts: Vec<Reg>,
    pub(super) scans: Vec<Reg>,
}

/// The stages of a list of instructions. `reads` gives what an instruction reads.
pub(super) fn stages(kernel: &Kernel, insts: &[Reg], reads: impl Fn(Reg) -> Vec<Reg>) -> Vec<ScanStage> {
    let is_scan = |reg: Reg| matches!(kernel.body[reg.0 as usize].op, Op::Scan(..));
    let mut known: Vec<usize> = vec![0; kernel.body.len()];
    let mut stages: Vec<ScanStage> = vec![];
    for reg in insts {
        // What a scan gives is known in the stage after its own.
        let stage = reads(*reg).iter().map(|operand| known[operand.0 as usize]).max().unwrap_or(0);
        stages.resize_with(stages.len().max(stage + 1), ScanStage::default);
        if is_scan(*reg) {
            stages[stage].scans.push(*reg);
        } else {
            stages[stage].insts.push(*reg);
        }
        known[reg.0 as usize] = stage + usize::from(is_scan(*reg));
    }
    stages
}

/// Turns of so many lanes whose values, of so many bytes, fit the room that there is for them; a power of two.
pub(super) fn most_together(room: u64, lanes: u32, bytes: u64) -> u32 {
    1 << (room / (u64::from(lanes) * bytes.max(4))).max(1).ilog2()
}
