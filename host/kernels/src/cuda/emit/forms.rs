//! The two forms of a kernel: rows side by side in a thread each, or threads side by side in a row.

use super::index::{bound, number_type};
use super::reductions::neutral;
use super::work::Work;
use super::{Emitter, Scope, Spot};
use crate::cuda::column::functor;
use crate::cuda::passes::Pass;
use crate::cuda::split::Split;
use crate::cuda::text::held;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Op, ReduceOp, Reg};
use std::collections::{HashMap, HashSet};

impl Emitter<'_> {
    /// Each thread computes `lanes` rows, point by point.
    pub(super) fn columns(&mut self, wide: u32, deep: u32, lanes: u32) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let (row_type, point_type) = (number_type(rows), number_type(points));
        let column = if deep > 1 { format!("threadIdx.x % {wide}") } else { "threadIdx.x".to_owned() };
        let (block, share) = (self.block(), self.share(deep));
        // Threads that share a row, in this block and in others.
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
        let spot = Spot { row: "p".into(), point: "r".into() };
        let later = self.row_values_read_later();
        let mut store_rows_if = (all_deep > 1).then(|| "active && depth == 0".to_owned());
        let passes = self.passes;
        for pass in &passes.list {
            let keep: Vec<(Reg, String)> =
                pass.row.iter().filter(|reg| later.contains(reg)).map(|reg| (*reg, format!("k{}[v]", reg.0))).collect();
            for (reg, _) in &keep {
                let line = format!("{} k{}[{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
            if !pass.row.is_empty() || !pass.row_stores.is_empty() {
                self.text.open("");
                let store_if = store_rows_if.as_deref();
                let names: Vec<(Reg, String)> = keep.clone();
                let (insts, stores) = (&pass.row, &pass.row_stores);
                self.work(&spot, Work { insts, reduces: &[], stores, keep, store_if, sums: "v" });
                self.text.close();
                self.names.extend(names);
            }
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            // Several points at a time: their loads are under way together, and each has accumulators of its own, which
            // keeps sums short. What a scan carries goes from point to point.
            let scans = pass.anew.iter().any(|reg| matches!(self.kernel.body[reg.0 as usize].op, Op::Scan(..)));
            let turns: u32 = match points / u64::from(all_deep) {
                // Each point of a scan waits for the one before, but its loads do not.
                _ if scans && !points.is_multiple_of(4) => 1,
                0 | 1 => 1,
                2 | 3 => 2,
                _ => 4,
            };
            self.accumulators(pass, lanes * turns);
            self.text.open("");
            self.carries(&pass.anew, lanes);
            let start = if all_deep > 1 { "depth" } else { "0" };
            let step = u64::from(all_deep) * u64::from(turns);
            self.text.line(format_args!("{point_type} first = {start};"));
            // Turns that are inside together need no branch, so that their loads are under way at a time.
            let past_first = u64::from(all_deep) * u64::from(turns - 1);
            if points >= step {
                let end = bound(points - past_first, point_type);
                self.text.open(format_args!("for (; first < {end}; first += {step})"));
                self.column_turns(&spot, pass, (all_deep, turns), None);
                self.text.close();
            }
            if !points.is_multiple_of(step) {
                let end = bound(points, point_type);
                self.text.open(format_args!("if (first < {end})"));
                self.column_turns(&spot, pass, (all_deep, turns), Some(&format!("r < {end}")));
                self.text.close();
            }
            self.text.close();
            self.reduced_columns(pass, (wide, deep), lanes, turns);
            if let Some(first) = self.exchange(pass) {
                store_rows_if = Some(format!("active && {first}"));
            }
        }
    }

    /// Neighbouring turns of a thread at its columns, `all_deep` points apart; `inside` says which are, where not all.
    fn column_turns(&mut self, spot: &Spot, pass: &Pass, (all_deep, turns): (u32, u32), inside: Option<&str>) {
        let (ty, lanes) = (number_type(self.schedule.points.points()), self.schedule.lanes());
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (int turn = 0; turn < {turns}; ++turn)"));
        self.text.line(format_args!("const {ty} r = first + turn * {all_deep};"));
        if let Some(inside) = inside {
            self.text.open(format_args!("if ({inside})"));
        }
        let (insts, sums) = (&pass.anew, format!("turn * {lanes} + v"));
        let store_if = (all_deep > 1).then_some("active");
        let work = Work { insts, reduces: &pass.reduces, stores: &pass.stores, keep: vec![], store_if, sums: &sums };
        self.work(spot, work);
        if inside.is_some() {
            self.text.close();
        }
        self.text.close();
    }

    /// What each column of a block was reduced to in a pass, from `turns` accumulators for each lane of a thread.
    fn reduced_columns(&mut self, pass: &Pass, (wide, deep): (u32, u32), lanes: u32, turns: u32) {
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
            Split::Scanned { .. } => (threads * turns, threads),
            _ => (threads, all_threads),
        };
        let (block, share) = (self.block(), self.share(own));
        self.text.line(format_args!("const u32 lane = {share}threadIdx.x % {threads};"));
        self.text
            .line(format_args!("const {row_type} row = ({row_type}){block} * {per_block} + threadIdx.x / {threads};"));
        // All threads of a block reduce together, those past the last row on the first.
        self.text.line(format_args!("const bool active = row < {};", bound(rows, row_type)));
        self.text.line(format_args!("const {row_type} p = active ? row : 0;"));
        let spot = Spot { row: "p".into(), point: "r".into() };
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
            let mut scope = Scope::default();
            for reg in &pass.row {
                self.value(*reg, &spot, &mut scope);
            }
            if !pass.row_stores.is_empty() {
                self.text.open(format_args!("if (active && {first})"));
                for store in &pass.row_stores {
                    self.store_each(*store, &spot);
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
                self.scanning_turns(&spot, pass, (threads, turns), inside.as_deref());
            } else {
                self.text.line(if kept { "#pragma unroll" } else { "#pragma unroll 4" });
                self.text.open(format_args!("for (u32 j = 0; j < {turns}; ++j)"));
                self.text.line(format_args!("const {point_type} r = (({point_type})j * {step} + lane) * {lanes};"));
                self.turn(&spot, pass, inside.as_deref(), kept.then_some(&mut at_hand));
                self.text.close();
            }
            self.reduced_rows(pass, threads, threads * per_block, lanes);
            if let Some(condition) = self.exchange(pass) {
                first = condition;
            }
        }
    }

    /// What the threads of a row do in a turn. `at_hand` has the kept values of passes before, where values are kept, and
    /// gets those of this one.
    fn turn(&mut self, spot: &Spot, pass: &Pass, inside: Option<&str>, at_hand: Option<&mut Vec<Reg>>) {
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
            Work { insts, reduces: &pass.reduces, stores: &pass.stores, keep, store_if: Some("active"), sums: "v" };
        self.work(spot, work);
        if inside.is_some() {
            self.text.close();
        }
    }

    /// What each row of a block was reduced to in a pass: a value, or where blocks share rows, a `sum` to be exchanged.
    fn reduced_rows(&mut self, pass: &Pass, threads: u32, block: u32, lanes: u32) {
        for reg in &pass.reduces {
            let (op, number) = (self.reduce_op(*reg), reg.0);
            let functor = functor(op);
            let result = if op.gives() == Gives::Position { ".at" } else { "" };
            let reduced =
                format!("across<{functor}, {threads}, {block}>(column<{functor}, {lanes}, 1>(acc{number}), shared)");
            if self.schedule.split == Split::Whole {
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
    pub(super) fn accumulators(&mut self, pass: &Pass, count: u32) {
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

    /// Declares what scans carry from point to point.
    pub(super) fn carries(&mut self, insts: &[Reg], lanes: u32) {
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
