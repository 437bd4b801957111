//! Selections between wide loads by a condition that all lanes share: the address is selected, and one load does.

use super::{CudaEmitter, IndexContext, NameScope, ScheduleForm};
use crate::cuda::claims::{Claim, ClaimAccess};
use crate::cuda::space::Lanes;
use crate::cuda::text::{literal, storage, to_storage};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Class, Op, PaddingMode, Reg, Scalar};
use std::collections::HashSet;

/// Selections that are made by address, or by a branch.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) whole: HashSet<Reg>,
    /// Those between other values, of which one side is computed; the outermost of some that belong together come first.
    pub(super) branches: Vec<Branch>,
    /// What these select from, and what that is computed of.
    pub(super) parts: HashSet<Reg>,
}

/// A selection of which one side is computed.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) select: Reg,
    pub(super) condition: Reg,
    /// For each side its value, and all that is computed for it.
    pub(super) sides: [(Reg, Vec<Reg>); 2],
}

impl CudaEmitter<'_> {
    /// Selections by a condition that all lanes share: between wide loads the address is selected, and one load does.
    pub(super) fn choices(&self, insts: &[Reg], lanes: u32) -> Choices {
        let mut choices = Choices::default();
        for reg in insts.iter().rev().filter(|reg| matches!(self.kernel.body[reg.0 as usize].op, Op::Select(..))) {
            let mut parts = vec![];
            if lanes > 1 && !choices.parts.contains(reg) && self.is_choice(*reg, insts, &mut parts) {
                choices.whole.insert(*reg);
                choices.parts.extend(parts);
            }
        }
        self.add_branches(&mut choices, insts, lanes);
        choices
    }

    /// Whether a selection can be made by address. `parts` gets everything that is then not computed by itself.
    pub(super) fn is_choice(&self, reg: Reg, insts: &[Reg], parts: &mut Vec<Reg>) -> bool {
        let Op::Select(condition, a, b) = self.kernel.body[reg.0 as usize].op else { return false };
        let shared = match self.schedule.form {
            ScheduleForm::Rows { .. } => !insts.contains(&condition) && self.facts.class(condition) == Class::Row,
            // Computed here, before the lanes: a row value of before has one value for each lane.
            ScheduleForm::Columns { .. } => insts.contains(&condition) && self.shared[condition.0 as usize],
        };
        shared
            && [a, b].into_iter().all(|part| {
                parts.push(part);
                let once = self.reads[part.0 as usize] == 1 && insts.contains(&part);
                match self.kernel.body[part.0 as usize].op {
                    Op::Load { input, .. } => {
                        let empty = self.kernel.inputs[input as usize].shape.contains(&0);
                        once && !empty && self.load_lanes(part, self.schedule.lanes()).1 == Lanes::Neighbours
                    }
                    Op::Select(..) => once && self.is_choice(part, insts, parts),
                    _ => false,
                }
            })
    }

    /// Loads what a selection selects, for all lanes.
    pub(super) fn load_chosen(&mut self, reg: Reg, context: &IndexContext, lanes: u32, scope: &mut NameScope) {
        let (dtype, number) = (self.dtype(reg), reg.0);
        let (inside, pad) = self.chosen_address(reg, context, lanes, scope);
        self.text.line(format_args!("__align__(16) {} s{number}[{lanes}];", storage(dtype)));
        match inside {
            Some(inside) => self.text.line(format_args!("read_or(s{number}, at{number}, {inside}, {pad});")),
            None => self.text.line(format_args!("read(s{number}, at{number});")),
        }
    }

    /// Names the address `at` of a wide load or of a selection of some. Returns the condition under which it is inside,
    /// if there is one, and what lies outside.
    pub(super) fn chosen_address(
        &mut self,
        reg: Reg,
        context: &IndexContext,
        lanes: u32,
        scope: &mut NameScope,
    ) -> (Option<String>, String) {
        let (dtype, number) = (self.dtype(reg), reg.0);
        let ty = storage(dtype);
        match self.kernel.body[number as usize].op {
            Op::Select(condition, a, b) => {
                self.claims.list.push(Claim::OneValue(condition));
                let (in_a, pad_a) = self.chosen_address(a, context, lanes, scope);
                let (in_b, pad_b) = self.chosen_address(b, context, lanes, scope);
                let condition = self.name(condition);
                self.text.line(format_args!("const {ty} *at{number} = {condition} ? at{} : at{};", a.0, b.0));
                let pad = if pad_a == pad_b { pad_a } else { format!("({condition} ? {pad_a} : {pad_b})") };
                if in_a.is_none() && in_b.is_none() {
                    return (None, pad);
                }
                let or_always = |inside: Option<String>| inside.unwrap_or_else(|| "true".to_owned());
                let (in_a, in_b) = (or_always(in_a), or_always(in_b));
                self.text.line(format_args!("const bool in{number} = {condition} ? {in_a} : {in_b};"));
                (Some(format!("in{number}")), pad)
            }
            Op::Load { input, padding, .. } => {
                let (address, _) = self.load_lanes(reg, lanes);
                self.claims.list.push(Claim::Neighbours(ClaimAccess::Load(reg)));
                let pad = match padding {
                    PaddingMode::Pad(pad) => to_storage(dtype, &literal(dtype, pad)),
                    PaddingMode::Clamp => to_storage(dtype, &literal(dtype, zero(dtype))),
                };
                match self.guard(reg, &address, context, scope) {
                    (Some(condition), offset) => {
                        self.text.line(format_args!("const bool in{number} = {condition};"));
                        self.text
                            .line(format_args!("const {ty} *at{number} = x{input} + (in{number} ? {offset} : 0);"));
                        (Some(format!("in{number}")), pad)
                    }
                    (None, offset) => {
                        self.text.line(format_args!("const {ty} *at{number} = x{input} + {offset};"));
                        (None, pad)
                    }
                }
            }
            _ => unreachable!("`is_choice` accepts loads and selections only"),
        }
    }
}

fn zero(dtype: Dtype) -> Scalar {
    match dtype {
        Dtype::Bool => Scalar::Bool(false),
        _ if dtype.is_float() => Scalar::Float(0.0),
        _ => Scalar::Int(0),
    }
}
