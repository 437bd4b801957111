//! Threads side by side in a row.

use super::index::{bound, number_type};
use super::reductions::neutral;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext, NameScope};
use crate::cuda::column::functor;
use crate::cuda::passes::RowPass;
use crate::cuda::split::RowSplit;
use crate::cuda::text::held;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Op, ReduceOp, Reg};

/// The turns of a row.
struct RowIterations {
    /// The line that names the point of a turn `j` and a thread.
    point: String,
    /// In so many of them, the first ones, all threads have points.
    whole: u32,
    all: u32,
    /// The condition under which a point is inside, where not all are.
    inside: Option<String>,
}

impl CudaEmitter<'_> {
    /// What a value reads, by itself and through its index expressions.
    pub(super) fn operands(&self, reg: Reg) -> Vec<Reg> {
        let mut operands = self.kernel.body[reg.0 as usize].op.operands();
        operands.extend(&self.analysis.gathers[reg.0 as usize]);
        operands
    }

    /// `threads` threads compute a row, `lanes` points each, in `turns`.
    pub(super) fn rows(&mut self, threads: u32, per_block: u32, lanes: u32, turns: u32, kept: bool) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let (row_type, point_type) = (number_type(rows), number_type(points));
        let all_threads = threads * self.schedule.split.blocks();
        // Blocks that reduce a row take turns at it, those that scan it have neighbouring points.
        let (own, step) = match self.schedule.split {
            RowSplit::Scanned { .. } => (threads * turns, threads),
            _ => (threads, all_threads),
        };
        let (block, share) = (self.block(), self.share(own));
        self.text.line(format_args!("const u32 lane = {share}threadIdx.x % {threads};"));
        self.text
            .line(format_args!("const {row_type} row = ({row_type}){block} * {per_block} + threadIdx.x / {threads};"));
        // All threads of a block reduce together, those past the last row on the first.
        self.text.line(format_args!("const bool active = row < {};", bound(rows, row_type)));
        self.text.line(format_args!("const {row_type} p = active ? row : 0;"));
        let context = IndexContext { row: "p".into(), point: "r".into() };
        if kept {
            for reg in &self.passes.kept {
                let line = format!("{} k{}[{turns}][{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
        }
        let passes = self.passes;
        let mut at_hand: Vec<Reg> = vec![];
        let mut first = "lane == 0".to_owned();
        for pass in &passes.list {
            let mut scope = NameScope::default();
            for reg in &pass.row {
                self.value(*reg, &context, &mut scope);
            }
            if !pass.row_stores.is_empty() {
                self.text.open(format_args!("if (active && {first})"));
                for store in &pass.row_stores {
                    self.store_each(*store, &context);
                }
                self.text.close();
            }
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            self.accumulators(pass, lanes);
            let full = u64::from(turns) * u64::from(all_threads) * u64::from(lanes) == points;
            let inside = (!full).then(|| format!("r < {}", bound(points, point_type)));
            if self.scans(pass) {
                self.scanning_turns(&context, pass, (threads, turns), inside.as_deref());
            } else {
                let point = format!("const {point_type} r = (({point_type})j * {step} + lane) * {lanes};");
                // Turns in which all threads have points.
                let whole = points / (u64::from(all_threads) * u64::from(lanes));
                let turns = RowIterations { point, whole: whole.min(turns.into()) as u32, all: turns, inside };
                if kept {
                    self.kept_turns(&context, pass, &turns, &mut at_hand);
                } else {
                    self.turns(&context, pass, &turns);
                }
            }
            self.reduced_rows(pass, threads, threads * per_block, lanes);
            if let Some(condition) = self.exchange(pass) {
                first = condition;
            }
        }
    }

    /// All turns of a row, of which threads keep values in registers.
    fn kept_turns(&mut self, context: &IndexContext, pass: &RowPass, turns: &RowIterations, at_hand: &mut Vec<Reg>) {
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 j = 0; j < {}; ++j)", turns.all));
        self.text.line(&turns.point);
        let always = if turns.whole > 0 { format!("j < {} || ", turns.whole) } else { String::new() };
        let inside = turns.inside.as_ref().map(|inside| format!("{always}{inside}"));
        self.turn(context, pass, inside.as_deref(), Some(at_hand));
        self.text.close();
    }

    /// All turns of a row. Whole ones have no branch, so that their loads are under way at a time.
    fn turns(&mut self, context: &IndexContext, pass: &RowPass, turns: &RowIterations) {
        for (first, end, inside) in [(0, turns.whole, None), (turns.whole, turns.all, turns.inside.as_deref())] {
            if first < end {
                self.text.line("#pragma unroll 4");
                self.text.open(format_args!("for (u32 j = {first}; j < {end}; ++j)"));
                self.text.line(&turns.point);
                self.turn(context, pass, inside, None);
                self.text.close();
            }
        }
    }

    /// What the threads of a row do in a turn. `at_hand` has the kept values of passes before, where values are kept, and
    /// gets those of this one.
    fn turn(&mut self, context: &IndexContext, pass: &RowPass, inside: Option<&str>, at_hand: Option<&mut Vec<Reg>>) {
        if let Some(inside) = inside {
            self.text.open(format_args!("if ({inside})"));
        }
        let insts = if at_hand.is_some() { &pass.kept } else { &pass.anew };
        let mut keep = vec![];
        if let Some(at_hand) = at_hand {
            for reg in at_hand.iter() {
                self.names.insert(*reg, format!("k{}[j][v]", reg.0));
            }
            let kept = self.passes.kept.iter().filter(|reg| insts.contains(reg));
            keep = kept.map(|reg| (*reg, format!("k{}[j][v]", reg.0))).collect();
            at_hand.extend(keep.iter().map(|(reg, _)| *reg));
        }
        let work =
            LaneWork { insts, reduces: &pass.reduces, stores: &pass.stores, keep, store_if: Some("active"), sums: "v" };
        self.work(context, work);
        if inside.is_some() {
            self.text.close();
        }
    }

    /// What each row of a block was reduced to in a pass: a value, or where blocks share rows, a `sum` to be exchanged.
    fn reduced_rows(&mut self, pass: &RowPass, threads: u32, block: u32, lanes: u32) {
        for reg in &pass.reduces {
            let (op, number) = (self.reduce_op(*reg), reg.0);
            let functor = functor(op);
            let result = if op.gives() == Gives::Position { ".at" } else { "" };
            let reduced =
                format!("across<{functor}, {threads}, {block}>(column<{functor}, {lanes}, 1>(acc{number}), shared)");
            if self.schedule.split == RowSplit::Whole {
                let ty = held(self.dtype(*reg));
                self.text.line(format_args!("const {ty} v{number} = {reduced}{result};"));
                self.names.insert(*reg, format!("v{number}"));
            } else {
                let ty = self.accumulator(*reg).0;
                self.text.line(format_args!("{ty} sum{number}[1] = {{{reduced}}};"));
                self.names.insert(*reg, format!("sum{number}[0]{result}"));
            }
        }
    }

    pub(super) fn reduce_op(&self, reg: Reg) -> ReduceOp {
        match self.kernel.body[reg.0 as usize].op {
            Op::Reduce(op, _) => op,
            _ => unreachable!("only reductions are listed as such"),
        }
    }

    /// Declares `count` accumulators for each reduction of a pass.
    pub(super) fn accumulators(&mut self, pass: &RowPass, count: u32) {
        for reg in &pass.reduces {
            let ((ty, start), number) = (self.accumulator(*reg), reg.0);
            self.text.line(format_args!("{ty} acc{number}[{count}];"));
            self.text.line("#pragma unroll");
            self.text.line(format_args!("for (int v = 0; v < {count}; ++v) acc{number}[v] = {start};"));
        }
    }

    /// The type of a reduction's accumulator, and what it starts with.
    pub(super) fn accumulator(&self, reg: Reg) -> (String, String) {
        let (op, operands) = (self.reduce_op(reg), self.kernel.body[reg.0 as usize].op.operands());
        let dtype = operands.first().map_or(Dtype::F32, |operand| self.dtype(*operand));
        let ty = held(dtype);
        match op.gives() {
            Gives::Position => (format!("Best<{ty}>"), format!("Best<{ty}>{{0, -1}}")),
            _ => (ty.to_owned(), neutral(op, dtype)),
        }
    }
}
