//! Selections between values that are loaded and calculated, as joined tensors are: where all lanes of a thread select the
//! same side, it computes that side alone.
//!
//! Only where each point is computed by itself: a thread that goes on to other points has more loads under way without
//! branches.

use super::choices::{Branch, Choices};
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext, LANE, ScheduleForm, of};
use crate::cuda::claims::Claim;
use crate::cuda::loops::{MemorySpace, ThreadStep};
use crate::cuda::types::storage;
use passhost_ir::kernel::{Op, Reg};
use std::collections::{HashMap, HashSet};

impl CudaEmitter<'_> {
    /// The selections that are made by a branch, beside those that are made by address, which cost less.
    pub(super) fn branches(&self, choices: &mut Choices, insts: &[Reg], lanes: u32) -> Vec<Branch> {
        let mut branches = vec![];
        let is_map = self.schedule.points.axes.is_empty() && self.of.passes.list.len() == 1;
        if !is_map || !matches!(self.schedule.form, ScheduleForm::Columns { deep: 1, .. }) {
            return branches;
        }
        for reg in insts.iter().rev() {
            let Op::Select(condition, a, b) = *self.of.op(*reg) else { continue };
            if choices.whole.contains(reg) || choices.parts.contains(reg) || !self.is_common(condition, insts, lanes) {
                continue;
            }
            let (Some(first), Some(second)) = (self.side(a, insts), self.side(b, insts)) else { continue };
            for (own, all) in [&first, &second] {
                choices.parts.extend(all.iter().filter(|reg| own.contains(reg)));
            }
            let (before, sides) = (self.closure(condition, insts), [(a, first.1), (b, second.1)]);
            branches.push(Branch { select: *reg, condition, before, sides });
        }
        branches
    }

    /// Whether all lanes of a thread have the same of a condition, which is known before anything is loaded.
    fn is_common(&self, condition: Reg, insts: &[Reg], lanes: u32) -> bool {
        if lanes > 1 {
            return insts.contains(&condition) && self.shared[condition.0 as usize];
        }
        let loads = |reg: &Reg| matches!(self.of.op(*reg), Op::Load { .. });
        insts.contains(&condition) && !self.closure(condition, insts).iter().any(loads)
    }

    /// What is computed for a side and for nothing else, and that with literals and the like that others use as well.
    /// `None` where a side loads nothing, or shares with others what costs something.
    fn side(&self, root: Reg, insts: &[Reg]) -> Option<(HashSet<Reg>, Vec<Reg>)> {
        let all = self.closure(root, insts);
        let mut reads: HashMap<Reg, usize> = HashMap::from([(root, 1)]);
        for read in all.iter().flat_map(|reg| self.operands(*reg)) {
            *reads.entry(read).or_default() += 1;
        }
        let is_own = |reg: &&Reg| reads.get(reg) == Some(&self.reads[reg.0 as usize]);
        let own: HashSet<Reg> = all.iter().filter(is_own).copied().collect();
        let op = |reg: &Reg| self.of.op(*reg);
        let is_cheap = |reg: &Reg| {
            matches!(op(reg), Op::Const(_) | Op::Index(_)) && self.of.analysis.gathers[reg.0 as usize].is_empty()
        };
        let loads = all.iter().any(|reg| matches!(op(reg), Op::Load { .. }));
        (loads && all.iter().all(|reg| own.contains(reg) || is_cheap(reg))).then_some((own, all))
    }

    /// A value and what it is computed of, as far as that is computed here, in order.
    fn closure(&self, root: Reg, insts: &[Reg]) -> Vec<Reg> {
        let (mut seen, mut stack) = (HashSet::new(), vec![root]);
        while let Some(reg) = stack.pop() {
            if insts.contains(&reg) && seen.insert(reg) {
                stack.extend(self.operands(reg));
            }
        }
        insts.iter().filter(|reg| seen.contains(reg)).copied().collect()
    }

    /// Computes the side that is selected, for all lanes.
    pub(super) fn branch(&mut self, branch: &Branch, context: &IndexContext<'_>) {
        let lanes = self.schedule.lanes();
        let context = &IndexContext { since: self.steps.len(), ..context.clone() };
        branch.before.iter().for_each(|reg| self.value(*reg, context));
        self.claims.list.push(Claim::OneValue(branch.condition));
        let (selected, condition) = (of("s", branch.select), self.operand(branch.condition, context));
        self.declare(MemorySpace::Aligned, storage(self.dtype(branch.select)), selected, &[lanes.into()]);
        let [yes, no] = branch.sides.each_ref().map(|(value, insts)| {
            let keep = vec![(*value, selected.at(LANE))];
            self.within(|this| this.work(context, LaneWork { keep, ..LaneWork::new(insts) }))
        });
        self.steps.push(ThreadStep::If(condition, yes, no));
    }
}
