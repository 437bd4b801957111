//! Rows side by side in a thread, point by point, each shared by a few threads.

use super::index::{bound, number_type};
use super::reductions::neutral;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext};
use crate::cuda::column::functor;
use crate::cuda::passes::RowPass;
use crate::cuda::text::held;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Op, Reg};
use std::collections::{HashMap, HashSet};

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
}

impl ColumnIterations {
    fn new(points: u64, all_deep: u32, scans: bool) -> ColumnIterations {
        // Several points at a time: their loads are under way together, and each has accumulators of its own, which keeps
        // sums short. What a scan carries goes from point to point.
        let together: u32 = match points / u64::from(all_deep) {
            // Each point of a scan waits for the one before, but its loads do not.
            _ if scans && !points.is_multiple_of(4) => 1,
            0 | 1 => 1,
            2 | 3 => 2,
            _ => 4,
        };
        let step = u64::from(all_deep) * u64::from(together);
        let rest = (points % step).div_ceil(u64::from(all_deep)) as u32;
        ColumnIterations { all_deep, together, whole: points / step, rest }
    }
}

impl CudaEmitter<'_> {
    /// Each thread computes `lanes` rows, point by point.
    pub(super) fn columns(&mut self, (wide, deep): (u32, u32), lanes: u32, kept: bool) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let row_type = number_type(rows);
        let column = if deep > 1 { format!("threadIdx.x % {wide}") } else { "threadIdx.x".to_owned() };
        let (block, share) = (self.block(), self.share(deep));
        let all_deep = deep * self.schedule.split.blocks();
        self.text.line(format_args!("const {row_type} thread = ({row_type}){block} * {wide} + {column};"));
        let in_range = format!("thread < {}u{}", rows / u64::from(lanes), if row_type == "u64" { "ll" } else { "" });
        if all_deep > 1 {
            // All threads of a block reduce together, those past the last row on the first.
            self.text.line(format_args!("const bool active = {in_range};"));
            self.text.line(format_args!("const {row_type} p = active ? thread * {lanes} : 0;"));
            self.text.line(format_args!("const u32 depth = {share}threadIdx.x / {wide};"));
        } else {
            self.text.line(format_args!("if (!({in_range})) return;"));
            self.text.line(format_args!("const {row_type} p = thread * {lanes};"));
        }
        let context = IndexContext { row: "p".into(), point: "r".into() };
        let later = self.row_values_read_later();
        let mut store_rows_if = (all_deep > 1).then(|| "active && depth == 0".to_owned());
        let passes = self.passes;
        if kept {
            let turns = ColumnIterations::new(points, all_deep, false);
            let count = turns.whole * u64::from(turns.together) + u64::from(turns.rest);
            for reg in &passes.kept {
                let line = format!("{} k{}[{count}][{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
        }
        let mut at_hand = kept.then(Vec::new);
        for pass in &passes.list {
            self.column_rows(&context, pass, &later, store_rows_if.as_deref());
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            let scans = pass.anew.iter().any(|reg| matches!(self.kernel.body[reg.0 as usize].op, Op::Scan(..)));
            let turns = ColumnIterations::new(points, all_deep, scans);
            self.accumulators(pass, lanes * turns.together);
            self.column_points(&context, pass, &turns, at_hand.as_mut());
            self.reduced_columns(pass, (wide, deep), lanes, turns.together);
            if let Some(first) = self.exchange(pass) {
                store_rows_if = Some(format!("active && {first}"));
            }
        }
    }

    /// Values of the rows that a pass begins with. Those that are read `later` are kept.
    fn column_rows(&mut self, context: &IndexContext, pass: &RowPass, later: &HashSet<Reg>, store_if: Option<&str>) {
        let lanes = self.schedule.lanes();
        let keep: Vec<(Reg, String)> =
            pass.row.iter().filter(|reg| later.contains(reg)).map(|reg| (*reg, format!("k{}[v]", reg.0))).collect();
        for (reg, _) in &keep {
            let line = format!("{} k{}[{lanes}];", held(self.dtype(*reg)), reg.0);
            self.text.line(line);
        }
        if !pass.row.is_empty() || !pass.row_stores.is_empty() {
            self.text.open("");
            let names: Vec<(Reg, String)> = keep.clone();
            let (insts, stores) = (&pass.row, &pass.row_stores);
            self.work(context, LaneWork { insts, reduces: &[], stores, keep, store_if, sums: "v" });
            self.text.close();
            self.names.extend(names);
        }
    }

    /// What a pass computes at the points. `at_hand` has the kept values of passes before, where values are kept, and gets
    /// those of this one.
    fn column_points(
        &mut self,
        context: &IndexContext,
        pass: &RowPass,
        turns: &ColumnIterations,
        mut at_hand: Option<&mut Vec<Reg>>,
    ) {
        let (points, lanes) = (self.schedule.points.points(), self.schedule.lanes());
        let (ty, ColumnIterations { all_deep, together, whole, rest }) = (number_type(points), turns);
        let start = if *all_deep > 1 { "depth" } else { "0" };
        self.text.open("");
        self.carries(&pass.anew, lanes);
        // Turns that all threads have need no branch, so that their loads are under way at a time.
        if *whole > 0 {
            if at_hand.is_some() {
                self.text.line("#pragma unroll");
            }
            self.text.open(format_args!("for ({ty} j = 0; j < {whole}; ++j)"));
            self.text.line("#pragma unroll");
            self.text.open(format_args!("for (int turn = 0; turn < {together}; ++turn)"));
            self.text.line(format_args!("const {ty} r = {start} + (j * {together} + turn) * {all_deep};"));
            self.column_turn(context, pass, &format!("j * {together} + turn"), at_hand.as_deref_mut());
            self.text.close();
            self.text.close();
        }
        if *rest > 0 {
            let first = whole * u64::from(*together);
            self.text.line("#pragma unroll");
            self.text.open(format_args!("for (int turn = 0; turn < {rest}; ++turn)"));
            self.text.line(format_args!("const {ty} r = {start} + ({first} + turn) * {all_deep};"));
            let (inside, end) = (points / u64::from(*all_deep) - first, bound(points, ty));
            let always = if inside > 0 { format!("turn < {inside} || ") } else { String::new() };
            self.text.open(format_args!("if ({always}r < {end})"));
            self.column_turn(context, pass, &format!("{first} + turn"), at_hand.as_deref_mut());
            self.text.close();
            self.text.close();
        }
        self.text.close();
        if let Some(at_hand) = at_hand {
            at_hand.extend(self.passes.kept.iter().filter(|reg| pass.kept.contains(reg)));
        }
    }

    /// What a thread does in a turn, which has the number `number`.
    fn column_turn(&mut self, context: &IndexContext, pass: &RowPass, number: &str, at_hand: Option<&mut Vec<Reg>>) {
        let insts = if at_hand.is_some() { &pass.kept } else { &pass.anew };
        let mut keep = vec![];
        if let Some(at_hand) = at_hand {
            let place = |reg: &Reg| (*reg, format!("k{}[{number}][v]", reg.0));
            self.names.extend(at_hand.iter().map(place));
            keep = self.passes.kept.iter().filter(|reg| insts.contains(reg)).map(place).collect();
        }
        let store_if = self.shares_rows().then_some("active");
        let sums = format!("turn * {} + v", self.schedule.lanes());
        self.work(
            context,
            LaneWork { insts, reduces: &pass.reduces, stores: &pass.stores, keep, store_if, sums: &sums },
        );
    }

    /// What each column of a block was reduced to in a pass, from `turns` accumulators for each lane of a thread.
    fn reduced_columns(&mut self, pass: &RowPass, (wide, deep): (u32, u32), lanes: u32, turns: u32) {
        for reg in &pass.reduces {
            let (functor, number) = (functor(self.reduce_op(*reg)), reg.0);
            let ty = self.accumulator(*reg).0;
            self.text.line(format_args!("{ty} sum{number}[{lanes}];"));
            self.text.line("#pragma unroll");
            self.text.line(format_args!(
                "for (int v = 0; v < {lanes}; ++v) sum{number}[v] = column<{functor}, {turns}, {lanes}>(acc{number} + v);"
            ));
            self.text.line(format_args!("across_columns<{functor}, {wide}, {deep}>(sum{number}, shared);"));
            let result = if self.reduce_op(*reg).gives() == Gives::Position { ".at" } else { "" };
            self.names.insert(*reg, format!("sum{number}[v]{result}"));
        }
    }

    /// Row values that another pass, or the points of their own, read.
    fn row_values_read_later(&self) -> HashSet<Reg> {
        let mut pass_of: HashMap<Reg, usize> = HashMap::new();
        for (number, pass) in self.passes.list.iter().enumerate() {
            pass_of.extend(pass.row.iter().map(|reg| (*reg, number)));
        }
        let mut later = HashSet::new();
        for (number, pass) in self.passes.list.iter().enumerate() {
            for reg in pass.anew.iter().chain(&pass.reduces) {
                later.extend(self.operands(*reg));
            }
            later.extend(pass.stores.iter().map(|store| self.kernel.stores[*store].value));
            let by_rows = pass.row.iter().flat_map(|reg| self.operands(*reg));
            let stored = pass.row_stores.iter().map(|store| self.kernel.stores[*store].value);
            later.extend(by_rows.chain(stored).filter(|reg| pass_of.get(reg) != Some(&number)));
        }
        later
    }

    /// Declares what scans carry from point to point.
    fn carries(&mut self, insts: &[Reg], lanes: u32) {
        for reg in insts {
            if let Op::Scan(op, _) = self.kernel.body[reg.0 as usize].op {
                let (ty, number) = (held(self.dtype(*reg)), reg.0);
                let start = neutral(op.reduction(), self.dtype(*reg));
                self.text.line(format_args!("{ty} c{number}[{lanes}];"));
                self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) c{number}[v] = {start};"));
            }
        }
    }
}
