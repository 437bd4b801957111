//! Threads side by side in a row.

use super::index::number_type;
use super::work::LaneWork;
use super::{ACTIVE, CudaEmitter, IndexContext, LANE, count, lanes, of};
use crate::cuda::column::{functor_call, neutral};
use crate::cuda::loops::{
    CudaType, Expression, MemorySpace, SHARED, THREAD, ThreadStep, Unroll, Variable, binary, number,
};
use crate::cuda::passes::RowPass;
use crate::cuda::split::RowSplit;
use crate::cuda::types::held;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Op, ReduceOp, Reg};

/// The turns of a row.
struct RowIterations {
    /// The number of the point at a turn `j` and a thread.
    point: Expression,
    /// In so many of them, the first ones, all threads have points.
    whole: u32,
    all: u32,
    /// The condition under which a point is inside, where not all are.
    inside: Option<Expression>,
}

impl CudaEmitter<'_> {
    /// What a value reads, by itself and through its index expressions.
    pub(super) fn operands(&self, reg: Reg) -> Vec<Reg> {
        self.of.analysis.reads(self.of.kernel, reg)
    }

    /// `threads` threads compute a row, `lanes` points each, in `turns`.
    pub(super) fn rows(&mut self, threads: u32, per_block: u32, lanes: u32, turns: u32, kept: bool) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let (row_type, point_type) = (number_type(rows), number_type(points));
        let [lane, row, turn] = ["lane", "row", "j"].map(Variable::named);
        let all_threads = threads * self.schedule.split.blocks();
        // Blocks that reduce a row take turns at it, those that scan it have neighbouring points.
        let (own, step) = match self.schedule.split {
            RowSplit::Scanned { .. } => (threads * turns, threads),
            _ => (threads, all_threads),
        };
        self.define("u32", lane, self.share(own, THREAD % threads));
        self.define(row_type, row, self.block().cast(row_type) * per_block + THREAD / threads);
        // All threads of a block reduce together, those past the last row on the first.
        self.define("bool", ACTIVE, binary("<", row, number(rows, row_type)));
        self.define(row_type, Variable::named("p"), Expression::from(ACTIVE).select(row, 0));
        if kept {
            self.declare_kept(turns.into());
        }
        let passes = self.of.passes;
        let mut first = binary("==", lane, 0);
        for pass in &passes.list {
            let context = IndexContext { own: &pass.row, since: self.steps.len(), ..IndexContext::at(0) };
            for reg in &pass.row {
                self.value(*reg, &context);
            }
            if !pass.row_stores.is_empty() {
                self.when(Some(binary("&&", ACTIVE, first.clone())), |this| {
                    pass.row_stores.iter().for_each(|store| this.store_each(*store, &context));
                });
            }
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            self.accumulators(pass, lanes);
            let full = u64::from(turns) * u64::from(all_threads) * u64::from(lanes) == points;
            let inside = (!full).then(|| binary("<", Variable::named("r"), number(points, point_type)));
            if self.scans(pass) {
                self.scanning_turns(pass, (threads, turns), inside);
            } else {
                let point = (Expression::from(turn).cast(point_type) * step + lane) * lanes;
                // Turns in which all threads have points.
                let whole = points / (u64::from(all_threads) * u64::from(lanes));
                let turns = RowIterations { point, whole: whole.min(turns.into()) as u32, all: turns, inside };
                self.turns(pass, turns, kept);
            }
            self.reduced_rows(pass, threads, threads * per_block);
            if let Some(condition) = self.exchange(pass) {
                first = condition;
            }
        }
    }

    /// All turns of a row: at once, where threads keep values in registers. Else whole ones have no branch, so that their
    /// loads are under way at a time.
    fn turns(&mut self, pass: &RowPass, turns: RowIterations, kept: bool) {
        let RowIterations { point, whole, all, inside } = turns;
        let always = (whole > 0).then(|| binary("<", Variable::named("j"), whole));
        let parts = if kept {
            let inside = inside.map(|inside| {
                always.into_iter().chain([inside.clone()]).reduce(|a, b| binary("||", a, b)).unwrap_or(inside)
            });
            vec![(0, all, inside, Unroll::All)]
        } else {
            vec![(0, whole, None, Unroll::By(4)), (whole, all, inside, Unroll::By(4))]
        };
        let ty = number_type(self.schedule.points.points());
        for (first, end, inside, unroll) in parts.into_iter().filter(|(first, end, ..)| first < end) {
            self.each(count("u32", "j", first.into()..end.into(), Some(unroll)), |this| {
                this.define(ty, Variable::named("r"), point.clone());
                let work = LaneWork { store_if: Some(ACTIVE.into()), ..LaneWork::new(&[]) };
                let context = IndexContext::at(Variable::named("j"));
                this.when(inside, |this| this.point_work(pass, &context, kept, work));
            });
        }
    }

    /// What a pass computes at the points of a turn, where values are kept or computed anew. `work` says what else there is
    /// to know.
    pub(super) fn point_work(&mut self, pass: &RowPass, context: &IndexContext<'_>, kept: bool, work: LaneWork<'_>) {
        let insts = if kept { &pass.kept } else { &pass.anew };
        let to_keep = self.of.passes.kept.iter().filter(|reg| kept && insts.contains(reg));
        let keep = to_keep.map(|reg| (*reg, self.kept(*reg, context))).collect();
        self.work(context, LaneWork { insts, reduces: &pass.reduces, stores: &pass.stores, keep, ..work });
    }

    /// Declares what threads keep of so many turns.
    pub(super) fn declare_kept(&mut self, turns: u64) {
        let passes = self.of.passes;
        passes.kept.iter().for_each(|reg| self.array("k", *reg, &[turns]));
    }

    /// Declares an array of a value's type, for each lane of each of these.
    pub(super) fn array(&mut self, stem: &'static str, reg: Reg, outer: &[u64]) {
        let extents = [outer, &[self.schedule.lanes().into()]].concat();
        self.declare(MemorySpace::Registers, held(self.dtype(reg)), of(stem, reg), &extents);
    }

    /// What each row of a block was reduced to in a pass: a value, or where blocks share rows, a `sum` to be exchanged.
    fn reduced_rows(&mut self, pass: &RowPass, threads: u32, block: u32) {
        let lanes = self.schedule.lanes();
        for reg in &pass.reduces {
            let op = self.reduce_op(*reg);
            let of_thread = functor_call(op, "column", &[lanes, 1], vec![of("acc", *reg).into()]);
            let of_row = functor_call(op, "across", &[threads, block], vec![of_thread, SHARED.into()]);
            if self.schedule.split == RowSplit::Whole {
                self.define(held(self.dtype(*reg)), of("v", *reg), self.reduced(*reg, of_row));
            } else {
                let parts = Expression::List(None, vec![of_row]);
                self.begin(self.accumulator(*reg).0, of("sum", *reg), &[1], parts);
            }
        }
    }

    pub(super) fn reduce_op(&self, reg: Reg) -> ReduceOp {
        match *self.of.op(reg) {
            Op::Reduce(op, _) => op,
            _ => unreachable!("only reductions are listed as such"),
        }
    }

    /// What a reduction gives, from what its accumulators came to.
    pub(super) fn reduced(&self, reg: Reg, sum: Expression) -> Expression {
        match self.reduce_op(reg).gives() {
            Gives::Position => Expression::Field(Box::new(sum), "at"),
            _ => sum,
        }
    }

    /// Declares `count` accumulators for each reduction of a pass.
    pub(super) fn accumulators(&mut self, pass: &RowPass, count: u32) {
        for reg in &pass.reduces {
            let ((ty, start), accumulator) = (self.accumulator(*reg), of("acc", *reg));
            self.declare(MemorySpace::Registers, ty, accumulator, &[count.into()]);
            let begins = ThreadStep::Assign(accumulator.at(LANE), start);
            self.steps.push(ThreadStep::Each(lanes(count), Box::new(begins)));
        }
    }

    /// The type of a reduction's accumulator, and what it starts with.
    pub(super) fn accumulator(&self, reg: Reg) -> (CudaType, Expression) {
        let (op, operands) = (self.reduce_op(reg), self.of.op(reg).operands());
        let dtype = operands.first().map_or(Dtype::F32, |operand| self.dtype(*operand));
        if op.gives() == Gives::Position {
            let ty = CudaType::Template("Best", held(dtype));
            (ty, Expression::List(Some(ty), vec![0.into(), Expression::from(-1)]))
        } else {
            (held(dtype).into(), neutral(op, dtype))
        }
    }
}
