//! What blocks that share rows tell each other.

use super::{CudaEmitter, of};
use crate::cuda::column::functor_call;
use crate::cuda::loops::{BLOCK, Expression, MemorySpace, SHARED, THREAD, ThreadStep, Variable, binary, call, number};
use crate::cuda::passes::RowPass;
use crate::cuda::schedule::ScheduleForm;
use crate::cuda::split::RowSplit;
use passhost_ir::kernel::Reg;

/// The place of a block among those that begin.
const PLACE: Variable = Variable::named("place");

impl CudaEmitter<'_> {
    /// The number of this block, as the schedule counts them.
    fn block_number(&self) -> Expression {
        match self.schedule.split {
            RowSplit::Scanned { .. } => Expression::Field(Box::new(PLACE.into()), "block"),
            _ => BLOCK.into(),
        }
    }

    /// The number of this block, without those that share its rows.
    pub(super) fn block(&self) -> Expression {
        match self.schedule.split {
            RowSplit::Whole => self.block_number(),
            split => self.block_number() / split.blocks(),
        }
    }

    /// Which of `count` threads this one is, the number `within` of its block, where each block that shares its rows has
    /// so many.
    pub(super) fn share(&self, count: u32, within: Expression) -> Expression {
        match self.schedule.split {
            RowSplit::Whole => within,
            split => self.block_number() % split.blocks() * count + within,
        }
    }

    /// Blocks of a cluster say that they are there, and those that scan a row together ask which of it they have.
    pub(super) fn arrive(&mut self) {
        if let RowSplit::Scanned { .. } = self.schedule.split {
            let (begun, blocks) = (Variable::named("begun"), self.schedule.blocks());
            self.declare(MemorySpace::Static, "u64", begun, &[]);
            let count = Expression::Prefix("&", Box::new(begun.into()));
            let next = Expression::Call("next_place", vec![number(blocks, "u32")], vec![count]);
            self.define("Place", PLACE, next);
        }
        let is_cluster = matches!(self.schedule.split, RowSplit::Cluster { .. });
        if is_cluster && self.of.passes.list.iter().any(|pass| !pass.reduces.is_empty()) {
            self.call(call("__cluster_barrier_arrive_relaxed", []));
        }
    }

    /// Whether several threads share a row, in a block or in several.
    pub(super) fn shares_rows(&self) -> bool {
        self.schedule.sides().1 > 1 || self.schedule.split.blocks() > 1
    }

    /// Makes what this block reduced in a pass, in `sum` of each reduction, what all blocks that share its rows did. If only
    /// the last of them goes on, returns the condition under which a thread of it is the first of its row.
    pub(super) fn exchange(&mut self, pass: &RowPass) -> Option<Expression> {
        let (wide, deep) = self.schedule.sides();
        let lanes = if let ScheduleForm::Columns { lanes, .. } = self.schedule.form { lanes } else { 1 };
        match self.schedule.split {
            _ if pass.reduces.is_empty() => None,
            RowSplit::Whole | RowSplit::Scanned { .. } => None,
            RowSplit::Cluster { blocks } => {
                self.exchange_in_cluster(pass, blocks, (wide, deep, lanes));
                None
            }
            RowSplit::Last { blocks } => {
                self.exchange_through_memory(pass, blocks, (wide, deep, lanes));
                Some(binary("<", THREAD, wide))
            }
        }
    }

    fn exchange_in_cluster(&mut self, pass: &RowPass, blocks: u32, (wide, deep, lanes): (u32, u32, u32)) {
        for reg in &pass.reduces {
            let (ty, parts) = (self.accumulator(*reg).0, (blocks * wide * lanes).into());
            self.declare(MemorySpace::Shared, ty, of("parts", *reg), &[parts]);
        }
        let is_first = self.of.passes.list.iter().find(|pass| !pass.reduces.is_empty()).map(|pass| &pass.reduces);
        if is_first == Some(&pass.reduces) {
            // None writes into the memory of another that has not begun.
            self.call(call("__cluster_barrier_wait", []));
        }
        let both = |reg: Reg| vec![of("sum", reg).into(), of("parts", reg).into()];
        for reg in &pass.reduces {
            let template = [wide, deep, blocks].map(Expression::from).to_vec();
            self.call(Expression::Call("tell", template, both(*reg)));
        }
        self.call(call("__cluster_barrier_arrive", []));
        self.call(call("__cluster_barrier_wait", []));
        for reg in &pass.reduces {
            self.call(functor_call(self.reduce_op(*reg), "take", &[wide, blocks], both(*reg)));
        }
    }

    fn exchange_through_memory(&mut self, pass: &RowPass, blocks: u32, (wide, deep, lanes): (u32, u32, u32)) {
        let (all, arrived) = (self.schedule.blocks(), Variable::named("arrived"));
        self.declare(MemorySpace::Static, "u32", arrived, &[all / u64::from(blocks)]);
        for reg in &pass.reduces {
            let [sum, parts] = ["sum", "parts"].map(|stem| of(stem, *reg));
            self.declare(MemorySpace::Static, self.accumulator(*reg).0, parts, &[all * u64::from(wide * lanes)]);
            self.call(Expression::Call("leave", vec![wide.into()], vec![sum.into(), parts.into()]));
        }
        let is_last = Expression::Call("is_last", vec![blocks.into()], vec![arrived.into()]);
        self.steps.push(ThreadStep::Return.guarded(Some(Expression::Prefix("!", Box::new(is_last)))));
        for reg in &pass.reduces {
            let (op, (ty, start)) = (self.reduce_op(*reg), self.accumulator(*reg));
            let [sum, parts] = ["sum", "parts"].map(|stem| of(stem, *reg));
            let arguments = vec![sum.into(), parts.into(), start.cast(ty)];
            self.call(functor_call(op, "collect", &[wide, deep, blocks], arguments));
            let across = |name, of: &[u32], sum: Expression| functor_call(op, name, of, vec![sum, SHARED.into()]);
            match self.schedule.form {
                ScheduleForm::Columns { .. } => self.call(across("across_columns", &[wide, deep], sum.into())),
                ScheduleForm::Rows { .. } => self.assign(sum.at(0), across("across", &[deep, deep], sum.at(0))),
            }
        }
    }
}
