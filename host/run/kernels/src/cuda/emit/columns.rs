//! Rows side by side in a thread, point by point, each shared by a few threads.

use super::index::number_type;
use super::work::LaneWork;
use super::{ACTIVE, CudaEmitter, IndexContext, LANE, count, lanes, of};
use crate::cuda::column::{functor_call, neutral};
use crate::cuda::loops::{
    Expression, LoopRange, MemorySpace, SHARED, THREAD, ThreadStep, Unroll, Variable, binary, number,
};
use crate::cuda::passes::RowPass;
use passhost_ir::kernel::{Op, Reg};
use std::collections::HashSet;

/// Points of a row that a thread alone adds up one after the other.
const SHORT: u64 = 64;

/// How the threads that share a column take its points: some neighbouring turns at a time.
struct ColumnIterations {
    /// Threads that share a column, in this block and in others.
    all_deep: u32,
    /// Turns at a time.
    together: u32,
    /// How often as many turns are inside for all threads.
    whole: u64,
    /// Turns after those, in which some are outside.
    rest: u32,
    unroll: Option<Unroll>,
}

impl ColumnIterations {
    fn new(points: u64, all_deep: u32, (scans, is_written_out): (bool, bool)) -> ColumnIterations {
        // Several points at a time: their loads are under way together, and each has accumulators of its own, which keeps
        // sums short. What a scan carries goes from point to point.
        let together: u32 = match points / u64::from(all_deep) {
            // Each point of a scan waits for the one before, but its loads do not.
            _ if scans && !points.is_multiple_of(4) => 1,
            // A short row of a thread is added up in its order.
            0..=SHORT if all_deep == 1 && !scans => 1,
            0 | 1 => 1,
            2 | 3 => 2,
            _ => 4,
        };
        let step = u64::from(all_deep) * u64::from(together);
        let rest = (points % step).div_ceil(u64::from(all_deep)) as u32;
        let is_short = all_deep == 1 && points <= SHORT && !scans;
        let unroll = is_short.then_some(if is_written_out { Unroll::All } else { Unroll::By(4) });
        ColumnIterations { all_deep, together, whole: points / step, rest, unroll }
    }
}

impl CudaEmitter<'_> {
    /// Each thread computes `lanes` rows, point by point.
    pub(super) fn columns(&mut self, (wide, deep): (u32, u32), lanes: u32) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let ty = number_type(rows);
        let [thread, row, depth] = ["thread", "p", "depth"].map(Variable::named);
        let column = if deep > 1 { THREAD % wide } else { THREAD.into() };
        let all_deep = deep * self.schedule.split.blocks();
        self.define(ty, thread, self.block().cast(ty) * wide + column);
        let in_range = binary("<", thread, number(rows / u64::from(lanes), ty));
        let mut store_rows_if = None;
        if all_deep > 1 {
            // All threads of a block reduce together, those past the last row on the first.
            self.define("bool", ACTIVE, in_range);
            self.define(ty, row, Expression::from(ACTIVE).select(thread * lanes, 0));
            self.define("u32", depth, self.share(deep, THREAD / wide));
            store_rows_if = Some(binary("==", depth, 0));
        } else {
            let outside = Expression::Prefix("!", Box::new(in_range));
            self.steps.push(ThreadStep::Return.guarded(Some(outside)));
            self.define(ty, row, thread * lanes);
        }
        let later = self.row_values_read_later();
        let passes = self.of.passes;
        for pass in &passes.list {
            let store_if = store_rows_if.clone().map(|first| binary("&&", ACTIVE, first));
            self.column_rows(pass, &later, store_if);
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            let turns = {
                let is_written_out = self.of.is_written_out(&self.schedule);
                ColumnIterations::new(points, all_deep, (self.scans(pass), is_written_out))
            };
            self.accumulators(pass, lanes * turns.together);
            self.scope(|this| this.column_points(pass, &turns));
            self.reduced_columns(pass, (wide, deep), turns.together);
            if let Some(first) = self.exchange(pass) {
                store_rows_if = Some(first);
            }
        }
    }

    /// Values of the rows that a pass begins with. Those that are read `later` are kept.
    fn column_rows(&mut self, pass: &RowPass, later: &HashSet<Reg>, store_if: Option<Expression>) {
        let kept = pass.row.iter().filter(|reg| later.contains(reg));
        let keep: Vec<(Reg, Expression)> = kept.map(|reg| (*reg, of("k", *reg).at(LANE))).collect();
        keep.iter().for_each(|(reg, _)| self.array("k", *reg, &[]));
        if !pass.row.is_empty() || !pass.row_stores.is_empty() {
            let work = LaneWork { stores: &pass.row_stores, keep, store_if, ..LaneWork::new(&pass.row) };
            self.scope(|this| this.work(&IndexContext::at(0), work));
        }
    }

    /// What a pass computes at the points.
    fn column_points(&mut self, pass: &RowPass, turns: &ColumnIterations) {
        let (points, width) = (self.schedule.points.points(), self.schedule.lanes());
        let (ty, &ColumnIterations { all_deep, together, whole, rest, unroll }) = (number_type(points), turns);
        let point = |number: Expression| {
            let from = if all_deep > 1 { Variable::named("depth").into() } else { Expression::from(0) };
            from + number * all_deep
        };
        let (iteration, turn, r) = (Variable::named("j"), Variable::named("turn"), Variable::named("r"));
        for reg in pass.anew.iter() {
            if let Op::Scan(op, _) = *self.of.op(*reg) {
                self.array("c", *reg, &[]);
                let start = ThreadStep::Assign(of("c", *reg).at(LANE), neutral(op.reduction(), self.dtype(*reg)));
                self.steps.push(ThreadStep::Each(LoopRange { unroll: None, ..lanes(width) }, Box::new(start)));
            }
        }
        // Turns that all threads have need no branch, so that their loads are under way at a time.
        if whole > 0 {
            self.each(count(ty, "j", 0..whole, unroll), |this| {
                this.each(count("int", "turn", 0..together.into(), Some(Unroll::All)), |this| {
                    let at = iteration * together + turn;
                    this.define(ty, r, point(at.clone()));
                    this.column_turn(pass, at);
                });
            });
        }
        if rest > 0 {
            let first = whole * u64::from(together);
            self.each(count("int", "turn", 0..rest.into(), Some(Unroll::All)), |this| {
                let at = Expression::from(first) + turn;
                this.define(ty, r, point(at.clone()));
                let (inside, of_all) = (points / u64::from(all_deep) - first, binary("<", r, number(points, ty)));
                let always = binary("<", turn, inside);
                let condition = if inside > 0 { binary("||", always, of_all) } else { of_all };
                this.when(Some(condition), |this| this.column_turn(pass, at));
            });
        }
    }

    /// What a thread does in a turn of this number.
    fn column_turn(&mut self, pass: &RowPass, number: Expression) {
        let sums = Variable::named("turn") * self.schedule.lanes() + LANE;
        let store_if = self.shares_rows().then(|| ACTIVE.into());
        self.point_work(pass, &IndexContext::at(number), false, LaneWork { sums, store_if, ..LaneWork::new(&[]) });
    }

    /// What each column of a block was reduced to in a pass, from `turns` accumulators for each lane of a thread.
    fn reduced_columns(&mut self, pass: &RowPass, (wide, deep): (u32, u32), turns: u32) {
        let width = self.schedule.lanes();
        for reg in &pass.reduces {
            let (op, sum) = (self.reduce_op(*reg), of("sum", *reg));
            self.declare(MemorySpace::Registers, self.accumulator(*reg).0, sum, &[width.into()]);
            let parts = functor_call(op, "column", &[turns, width], vec![of("acc", *reg) + LANE]);
            let all = ThreadStep::Assign(sum.at(LANE), parts);
            self.steps.push(ThreadStep::Each(lanes(width), Box::new(all)));
            self.call(functor_call(op, "across_columns", &[wide, deep], vec![sum.into(), SHARED.into()]));
        }
    }

    /// Row values that another pass, or the points of their own, read.
    fn row_values_read_later(&self) -> HashSet<Reg> {
        let mut later = HashSet::new();
        for pass in &self.of.passes.list {
            for reg in pass.anew.iter().chain(&pass.reduces) {
                later.extend(self.operands(*reg));
            }
            later.extend(pass.stores.iter().map(|store| self.of.kernel.stores[*store].value));
            let by_rows = pass.row.iter().flat_map(|reg| self.operands(*reg));
            let stored = pass.row_stores.iter().map(|store| self.of.kernel.stores[*store].value);
            later.extend(by_rows.chain(stored).filter(|reg| !pass.row.contains(reg)));
        }
        later
    }
}
