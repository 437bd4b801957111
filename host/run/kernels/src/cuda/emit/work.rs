//! What the lanes of a thread compute in one go: wide loads, then lane by lane, then wide stores.

use super::choices::Choices;
use super::reductions::neutral;
use super::{CudaEmitter, IndexContext, NameScope, ScheduleForm};
use crate::cuda::claims::{Claim, ClaimAccess};
use crate::cuda::column::functor;
use crate::cuda::space::{Address, Lanes, common};
use crate::cuda::text::{expression, from_storage, held, storage, to_storage};
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Class, IndexId, Op, Reg};
use std::collections::HashMap;

/// What is computed in one go, for the lanes of a thread.
pub(super) struct LaneWork<'a> {
    pub(super) insts: &'a [Reg],
    pub(super) reduces: &'a [Reg],
    pub(super) stores: &'a [usize],
    /// Values to be kept, with the text of the place for a lane.
    pub(super) keep: Vec<(Reg, String)>,
    /// A condition for stores.
    pub(super) store_if: Option<&'a str>,
    /// The number of a lane's accumulator.
    pub(super) sums: &'a str,
}

impl CudaEmitter<'_> {
    /// Computes for the lanes of a thread: wide loads, then lane by lane, then wide stores.
    pub(super) fn work(&mut self, context: &IndexContext, work: LaneWork<'_>) {
        let lanes = self.schedule.lanes();
        let chosen = self.choices(work.insts, lanes);
        let wide = self.once_for_all_lanes(&work, &chosen, context);
        let wide_stores: Vec<usize> =
            work.stores.iter().copied().filter(|store| self.store_lanes(*store, lanes) == Lanes::Neighbours).collect();
        for store in &wide_stores {
            let dtype = self.dtype(self.kernel.stores[*store].value);
            self.text.line(format_args!("__align__(16) {} o{store}[{lanes}];", storage(dtype)));
        }
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (int v = 0; v < {lanes}; ++v)"));
        let lane = self.lane_context(context, lanes);
        let mut scope = NameScope::default();
        for reg in work.insts.iter().filter(|reg| !chosen.parts.contains(reg)) {
            match wide.get(reg) {
                Some(Lanes::One) => {}
                Some(_) => {
                    let dtype = self.dtype(*reg);
                    let element = from_storage(dtype, &format!("s{}[v]", reg.0));
                    self.text.line(format_args!("const {} v{} = {element};", held(dtype), reg.0));
                    self.names.insert(*reg, format!("v{}", reg.0));
                }
                None => self.value(*reg, &lane, &mut scope),
            }
        }
        for reg in work.reduces {
            let Op::Reduce(op, operand) = self.kernel.body[reg.0 as usize].op else { continue };
            let (x, number) = (self.name(operand), reg.0);
            // Each accumulator sees points in their order.
            let x = if op.gives() == Gives::Position { format!("{x}, (i64){}", lane.point) } else { x };
            let at = work.sums;
            self.text.line(format_args!("acc{number}[{at}] = {}::of(acc{number}[{at}], {x});", functor(op)));
        }
        for (reg, place) in &work.keep {
            let name = self.name(*reg);
            self.text.line(format_args!("{place} = {name};"));
        }
        for store in work.stores {
            if wide_stores.contains(store) {
                let value = self.kernel.stores[*store].value;
                let element = to_storage(self.dtype(value), &self.name(value));
                self.text.line(format_args!("o{store}[v] = {element};"));
            } else {
                if let Some(condition) = work.store_if {
                    self.text.open(format_args!("if ({condition})"));
                }
                self.store_each(*store, &lane);
                if work.store_if.is_some() {
                    self.text.close();
                }
            }
        }
        self.text.close();
        for store in wide_stores {
            self.claims.list.push(Claim::Neighbours(ClaimAccess::Store(store)));
            let offset = self.store_offset(store, context);
            let condition = work.store_if.map(|condition| format!("if ({condition}) ")).unwrap_or_default();
            self.text.line(format_args!("{condition}write(y{store} + {offset}, o{store});"));
        }
        // Lanes are gone with their loop, unless they were kept.
        for reg in work.insts {
            self.names.remove(reg);
        }
    }

    /// Computes what all lanes of a thread get in one go: wide loads, and what is the same for each of them.
    fn once_for_all_lanes(
        &mut self,
        work: &LaneWork<'_>,
        chosen: &Choices,
        context: &IndexContext,
    ) -> HashMap<Reg, Lanes> {
        let lanes = self.schedule.lanes();
        let mut chunk = NameScope::default();
        let mut wide: HashMap<Reg, Lanes> = HashMap::new();
        for reg in work.insts.iter().filter(|reg| !chosen.parts.contains(reg)) {
            let common = match self.kernel.body[reg.0 as usize].op {
                Op::Select(..) if chosen.whole.contains(reg) => {
                    self.load_chosen(*reg, context, lanes, &mut chunk);
                    Lanes::Neighbours
                }
                Op::Load { .. } => {
                    let (address, common) = self.load_lanes(*reg, lanes);
                    match common {
                        Lanes::Each => continue,
                        Lanes::One => {
                            self.claims.list.push(Claim::OneElement(ClaimAccess::Load(*reg)));
                            self.load_one(*reg, &address, context, &mut chunk);
                        }
                        Lanes::Neighbours => self.load_neighbours(*reg, &address, context, lanes, &mut chunk),
                    }
                    common
                }
                // What all lanes compute alike is computed once.
                _ if lanes > 1 && self.is_shared(*reg, work.insts, &wide) => {
                    self.claims.list.push(Claim::OneValue(*reg));
                    self.value(*reg, context, &mut chunk);
                    Lanes::One
                }
                _ => continue,
            };
            wide.insert(*reg, common);
        }
        // Last, so that loads which do not wait for a branch are under way.
        for branch in &chosen.branches {
            self.branch(branch, work, context, &mut wide);
        }
        wide
    }

    /// Whether a value among `insts` is the same for all lanes; `known` says so of those before.
    pub(super) fn is_shared(&self, reg: Reg, insts: &[Reg], known: &HashMap<Reg, Lanes>) -> bool {
        let of_row = matches!(self.schedule.form, ScheduleForm::Rows { .. });
        let op = &self.kernel.body[reg.0 as usize].op;
        let operands = op.operands();
        let shared = |operand: &Reg| match known.get(operand) {
            Some(lanes) => *lanes == Lanes::One,
            // Computed before: a row's value, which is that of all lanes where they are points of it.
            None => of_row && !insts.contains(operand) && self.facts.class(*operand) == Class::Row,
        };
        match op {
            Op::Const(_) | Op::Index(_) => self.shared[reg.0 as usize],
            Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
            _ => operands.iter().all(shared),
        }
    }

    /// For each value, whether it is made of literals and index expressions that all lanes share.
    pub(super) fn shared_values(&self) -> Vec<bool> {
        let mut shared: Vec<bool> = Vec::with_capacity(self.kernel.body.len());
        for (at, inst) in self.kernel.body.iter().enumerate() {
            shared.push(match &inst.op {
                Op::Const(_) => true,
                Op::Index(id) => self.analysis.gathers[at].is_empty() && self.is_shared_index(*id),
                Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
                op => op.operands().iter().all(|operand| shared[operand.0 as usize]),
            });
        }
        shared
    }

    /// Whether an index expression has the same value for all lanes.
    pub(super) fn is_shared_index(&self, id: IndexId) -> bool {
        let address = Address::Indexed { index: vec![id], strides: vec![1] };
        let lanes = i64::from(self.schedule.lanes());
        let found = common(self.kernel, self.analysis, self.schedule.along(), &address, lanes, (Dtype::U8, 1), &[true]);
        found == Lanes::One
    }

    /// The numbers of a lane's row and point.
    pub(super) fn lane_context(&self, context: &IndexContext, lanes: u32) -> IndexContext {
        if lanes == 1 {
            return context.clone();
        }
        match self.schedule.form {
            ScheduleForm::Columns { .. } => IndexContext { row: format!("({} + v)", context.row), ..context.clone() },
            ScheduleForm::Rows { .. } => IndexContext { point: format!("({} + v)", context.point), ..context.clone() },
        }
    }

    /// Computes one value here.
    pub(super) fn value(&mut self, reg: Reg, context: &IndexContext, scope: &mut NameScope) {
        let inst = &self.kernel.body[reg.0 as usize];
        let number = reg.0;
        match &inst.op {
            Op::Load { .. } => {
                let (address, _) = self.load_lanes(reg, 1);
                return self.load_one(reg, &address, context, scope);
            }
            Op::Index(id) => {
                let index = self.index(*id, context, scope);
                self.text.line(format_args!("const i64 v{number} = (i64){index};"));
            }
            Op::Scan(op, operand) => {
                let last = self.kernel.reduce.last().copied().unwrap_or(1);
                let (x, start, op) =
                    (self.name(*operand), neutral(op.reduction(), inst.dtype), functor(op.reduction()));
                if last as u64 != self.schedule.points.points() {
                    self.text.line(format_args!("if ({} % {last} == 0) c{number}[v] = {start};", context.point));
                }
                self.text.line(format_args!("c{number}[v] = {op}::of(c{number}[v], {x});"));
                self.text.line(format_args!("const {} v{number} = c{number}[v];", held(inst.dtype)));
            }
            _ => {
                let text = expression(&self.kernel.body, inst, |operand| self.name(operand));
                self.text.line(format_args!("const {} v{number} = {text};", held(inst.dtype)));
            }
        }
        self.names.insert(reg, format!("v{number}"));
    }
}
