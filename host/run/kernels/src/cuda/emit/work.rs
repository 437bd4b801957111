//! What the lanes of a thread compute in one go: wide loads, then lane by lane, then wide stores.

use super::choices::Choices;
use super::{CudaEmitter, IndexContext, LANE, ScheduleForm, lanes, of};
use crate::cuda::claims::{Claim, ClaimAccess};
use crate::cuda::column::{compute, functor, neutral};
use crate::cuda::loops::{Expression, MemorySpace, ThreadStep, Variable, binary};
use crate::cuda::space::{Address, Lanes, MemoryAccess};
use crate::cuda::types::{from_storage, held, storage};
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Class, IndexId, Op, Reg};
use std::collections::HashMap;

/// What is computed in one go, for the lanes of a thread.
pub(super) struct LaneWork<'a> {
    pub(super) insts: &'a [Reg],
    pub(super) reduces: &'a [Reg],
    pub(super) stores: &'a [usize],
    /// Values to be kept, with the place for a lane.
    pub(super) keep: Vec<(Reg, Expression)>,
    /// A condition for stores.
    pub(super) store_if: Option<Expression>,
    /// The number of a lane's accumulator.
    pub(super) sums: Expression,
}

impl<'a> LaneWork<'a> {
    /// Computes so much, and does nothing with it.
    pub(super) fn new(insts: &'a [Reg]) -> LaneWork<'a> {
        LaneWork { insts, reduces: &[], stores: &[], keep: vec![], store_if: None, sums: LANE.into() }
    }
}

impl CudaEmitter<'_> {
    /// Computes for the lanes of a thread: wide loads, then lane by lane, then wide stores.
    pub(super) fn work(&mut self, context: &IndexContext<'_>, work: LaneWork<'_>) {
        let width = self.schedule.lanes();
        let chosen = self.choices(work.insts, width);
        let context = &IndexContext { own: work.insts, since: self.steps.len(), ..context.clone() };
        self.once_for_all_lanes(&work, &chosen, context);
        let is_wide = |store: &usize| self.store_lanes(*store) == Lanes::Neighbours;
        let wide_stores: Vec<usize> = work.stores.iter().copied().filter(is_wide).collect();
        for store in &wide_stores {
            let element = storage(self.dtype(self.of.kernel.stores[*store].value));
            self.declare(MemorySpace::Aligned, element, Variable::of("o", *store as u32), &[width.into()]);
        }
        self.each(lanes(width), |this| {
            let lane = IndexContext { since: 0, ..Self::lane_context(context, width) };
            for reg in work.insts.iter().filter(|reg| !chosen.parts.contains(reg)) {
                match chosen.common(*reg) {
                    Some(Lanes::One) => {}
                    Some(Lanes::Neighbours) => {
                        let dtype = this.dtype(*reg);
                        this.define(held(dtype), of("v", *reg), from_storage(dtype, of("s", *reg).at(LANE)));
                    }
                    Some(Lanes::Each) | None => this.value(*reg, &lane),
                }
            }
            this.use_values(&lane, &work, &wide_stores);
        });
        for store in wide_stores {
            self.claim(Claim::Neighbours(ClaimAccess::Store(store)));
            let to = Variable::of("y", store as u32) + self.store_offset(store, context);
            let from = Variable::of("o", store as u32).into();
            self.steps.push(ThreadStep::Store(to, from).guarded(work.store_if.clone()));
        }
    }

    /// Reduces, keeps and stores what a lane computed.
    fn use_values(&mut self, lane: &IndexContext<'_>, work: &LaneWork<'_>, wide_stores: &[usize]) {
        for reg in work.reduces {
            let Op::Reduce(op, operand) = *self.of.op(*reg) else { continue };
            let mut values = vec![self.operand(operand, lane)];
            if op.gives() == Gives::Position {
                // Each accumulator sees points in their order.
                values.push(self.number(lane, false).cast("i64"));
            }
            self.steps.push(ThreadStep::Accumulate(of("acc", *reg).at(work.sums.clone()), functor(op), values));
        }
        for (reg, place) in &work.keep {
            self.assign(place.clone(), self.operand(*reg, lane));
        }
        for store in work.stores {
            if wide_stores.contains(store) {
                self.assign(Variable::of("o", *store as u32).at(LANE), self.element(*store, lane));
            } else {
                self.when(work.store_if.clone(), |this| this.store_each(*store, lane));
            }
        }
    }

    /// Computes what all lanes of a thread get in one go: wide loads, and what is the same for each of them.
    fn once_for_all_lanes(&mut self, work: &LaneWork<'_>, chosen: &Choices, context: &IndexContext<'_>) {
        for reg in work.insts {
            let is_load = matches!(self.of.op(*reg), Op::Load { .. });
            match chosen.once.get(reg) {
                None | Some(Lanes::Each) => {}
                Some(Lanes::Neighbours) if is_load => self.load_neighbours(*reg, context),
                Some(Lanes::Neighbours) => self.load_chosen(*reg, context),
                Some(Lanes::One) => {
                    let load = ClaimAccess::Load(*reg);
                    self.claim(if is_load { Claim::OneElement(load) } else { Claim::OneValue(*reg) });
                    self.value(*reg, context);
                }
            }
        }
    }

    /// Whether a value among `insts` is the same for all lanes; `known` says so of those before.
    pub(super) fn is_shared(&self, reg: Reg, insts: &[Reg], known: &HashMap<Reg, Lanes>) -> bool {
        let of_row = matches!(self.schedule.form, ScheduleForm::Rows { .. });
        let op = self.of.op(reg);
        let shared = |operand: &Reg| match known.get(operand) {
            Some(lanes) => *lanes == Lanes::One,
            // Computed before: a row's value, which is that of all lanes where they are points of it.
            None => of_row && !insts.contains(operand) && self.of.facts.class(*operand) == Class::Row,
        };
        match op {
            Op::Const(_) | Op::Index(_) => self.shared[reg.0 as usize],
            Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
            _ => op.operands().iter().all(shared),
        }
    }

    /// For each value, whether it is made of literals and index expressions that all lanes share.
    pub(super) fn shared_values(&self) -> Vec<bool> {
        let mut shared: Vec<bool> = Vec::with_capacity(self.of.kernel.body.len());
        for (at, inst) in self.of.kernel.body.iter().enumerate() {
            shared.push(match &inst.op {
                Op::Const(_) => true,
                Op::Index(id) => self.of.analysis.gathers[at].is_empty() && self.is_shared_index(*id),
                Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
                op => op.operands().iter().all(|operand| shared[operand.0 as usize]),
            });
        }
        shared
    }

    /// Whether an index expression has the same value for all lanes.
    pub(super) fn is_shared_index(&self, id: IndexId) -> bool {
        let address = Address::Indexed { index: vec![id], strides: vec![1] };
        let access = MemoryAccess { address, dtype: Dtype::U8, alignment: 1, in_bounds: vec![true], bytes: 1 };
        self.of.common(&self.schedule, &access) == Lanes::One
    }

    /// The numbers of a lane's row and point.
    fn lane_context<'c>(context: &IndexContext<'c>, lanes: u32) -> IndexContext<'c> {
        IndexContext { lane: lanes > 1, ..context.clone() }
    }

    /// Computes one value here.
    pub(super) fn value(&mut self, reg: Reg, context: &IndexContext<'_>) {
        let inst = &self.of.kernel.body[reg.0 as usize];
        let value = match &inst.op {
            Op::Load { .. } => return self.load_one(reg, context),
            Op::Index(id) => self.index(*id, context).cast("i64"),
            Op::Scan(op, operand) => {
                let last = self.of.kernel.reduce.last().copied().unwrap_or(1);
                let (op, so_far) = (op.reduction(), of("c", reg).at(LANE));
                if last as u64 != self.schedule.points.points() {
                    let anew = ThreadStep::Assign(so_far.clone(), neutral(op, inst.dtype));
                    self.steps.push(anew.guarded(Some(binary("==", self.number(context, false) % last, 0))));
                }
                let values = vec![self.operand(*operand, context)];
                self.steps.push(ThreadStep::Accumulate(so_far.clone(), functor(op), values));
                so_far
            }
            op => {
                let operands = op.operands();
                let from = operands.first().map_or(inst.dtype, |operand| self.dtype(*operand));
                let operands = operands.iter().map(|operand| self.operand(*operand, context)).collect();
                let Some(value) = compute(op, (from, inst.dtype), operands) else {
                    unreachable!("reductions are no values of a point")
                };
                value
            }
        };
        self.define(held(inst.dtype), of("v", reg), value);
    }
}
