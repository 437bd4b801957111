//! Selections between wide loads by a condition that all lanes share: the address is selected, and one load does.

use super::{CudaEmitter, IndexContext, ScheduleForm, of};
use crate::cuda::claims::{Claim, ClaimAccess};
use crate::cuda::loops::{CudaType, Expression, MemorySpace, ThreadStep};
use crate::cuda::space::Lanes;
use crate::cuda::types::{storage, to_storage};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Class, Op, Reg};
use std::collections::{HashMap, HashSet};

/// What is computed once for all lanes, before anything else is, and the selections that are made by address.
#[derive(Debug, Default)]
pub(super) struct Choices {
    /// What lanes have in common of values that are computed before them.
    pub(super) once: HashMap<Reg, Lanes>,
    /// Selections by address.
    pub(super) whole: HashSet<Reg>,
    /// What these select from.
    pub(super) parts: HashSet<Reg>,
}

impl Choices {
    /// What lanes have in common of a value that is computed before them.
    pub(super) fn common(&self, reg: Reg) -> Option<Lanes> {
        self.once.get(&reg).copied()
    }
}

impl CudaEmitter<'_> {
    /// Selections by a condition that all lanes share: between wide loads the address is selected, and one load does.
    pub(super) fn choices(&self, insts: &[Reg], lanes: u32) -> Choices {
        let mut choices = Choices::default();
        for reg in insts.iter().rev().filter(|reg| matches!(self.of.op(**reg), Op::Select(..))) {
            let mut parts = vec![];
            if lanes > 1 && !choices.parts.contains(reg) && self.is_choice(*reg, insts, &mut parts) {
                choices.whole.insert(*reg);
                choices.parts.extend(parts);
            }
        }
        for reg in insts.iter().filter(|reg| !choices.parts.contains(reg)) {
            let common = match self.of.op(*reg) {
                Op::Load { .. } => self.load_lanes(*reg),
                _ if choices.whole.contains(reg) => Lanes::Neighbours,
                // What all lanes compute alike is computed once.
                _ if lanes > 1 && self.is_shared(*reg, insts, &choices.once) => Lanes::One,
                _ => Lanes::Each,
            };
            if common != Lanes::Each {
                choices.once.insert(*reg, common);
            }
        }
        choices
    }

    /// Whether a selection can be made by address. `parts` gets everything that is then not computed by itself.
    pub(super) fn is_choice(&self, reg: Reg, insts: &[Reg], parts: &mut Vec<Reg>) -> bool {
        let Op::Select(condition, a, b) = *self.of.op(reg) else { return false };
        let shared = match self.schedule.form {
            ScheduleForm::Rows { .. } => !insts.contains(&condition) && self.of.facts.class(condition) == Class::Row,
            // Computed here, before the lanes: a row value of before has one value for each lane.
            ScheduleForm::Columns { .. } => insts.contains(&condition) && self.shared[condition.0 as usize],
        };
        shared
            && [a, b].into_iter().all(|part| {
                parts.push(part);
                let once = self.reads[part.0 as usize] == 1 && insts.contains(&part);
                match *self.of.op(part) {
                    Op::Load { .. } => {
                        let is_wide = || self.load_lanes(part) == Lanes::Neighbours;
                        once && !self.is_of_nothing(part) && is_wide()
                    }
                    Op::Select(..) => once && self.is_choice(part, insts, parts),
                    _ => false,
                }
            })
    }

    /// Loads what a selection selects, for all lanes.
    pub(super) fn load_chosen(&mut self, reg: Reg, context: &IndexContext<'_>) {
        let (inside, pad) = self.chosen_address(reg, context);
        let (to, from) = (of("s", reg), of("at", reg).into());
        self.declare(MemorySpace::Aligned, storage(self.dtype(reg)), to, &[self.schedule.lanes().into()]);
        self.steps.push(ThreadStep::Load(to.into(), from, inside.map(|inside| (inside, pad))));
    }

    /// Names the address `at` of a wide load or of a selection of some. Returns the condition under which it is inside,
    /// if there is one, and what lies outside.
    fn chosen_address(&mut self, reg: Reg, context: &IndexContext<'_>) -> (Option<Expression>, Expression) {
        let (address, is_inside) = (of("at", reg), of("in", reg));
        let ty = CudaType::Pointer(storage(self.dtype(reg)));
        let Op::Select(condition, a, b) = *self.of.op(reg) else {
            self.claim(Claim::Neighbours(ClaimAccess::Load(reg)));
            let (condition, mut offset) = self.guard(reg, context);
            let inside = condition.map(|condition| {
                self.define("bool", is_inside, condition);
                offset = Expression::from(is_inside).select(offset.clone(), 0);
                is_inside.into()
            });
            self.define(ty, address, self.input(reg) + offset);
            return (inside, to_storage(self.dtype(reg), self.padding(reg)));
        };
        self.claim(Claim::OneValue(condition));
        let (in_a, pad_a) = self.chosen_address(a, context);
        let (in_b, pad_b) = self.chosen_address(b, context);
        let condition = self.operand(condition, context);
        self.define(ty, address, condition.clone().select(of("at", a), of("at", b)));
        let pad = if pad_a == pad_b { pad_a } else { condition.clone().select(pad_a, pad_b).group() };
        if in_a.is_none() && in_b.is_none() {
            return (None, pad);
        }
        let or_always = |inside: Option<Expression>| inside.unwrap_or(Expression::Bits(Dtype::Bool, 1));
        self.define("bool", is_inside, condition.select(or_always(in_a), or_always(in_b)));
        (Some(is_inside.into()), pad)
    }
}
