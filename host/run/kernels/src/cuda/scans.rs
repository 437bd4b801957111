//! What accumulators of reductions and scans take, where scans begin anew, and in which order they are computed beside what they read and what reads them.

use passhost_ir::kernel::{Kernel, Op, Reg};

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
