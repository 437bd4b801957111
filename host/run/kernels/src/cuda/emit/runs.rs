//! Scans by neighbouring threads, some turns of their row at a time.
//!
//! What a scan reads is computed by all threads, then the threads scan together, then all go on with what it gave: a
//! *stage* for each scan of a chain of them.

use super::index::number_type;
use super::reductions::neutral;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext};
use crate::cuda::column::functor;
use crate::cuda::passes::RowPass;
use crate::cuda::scans::accumulator_bytes;
use crate::cuda::scans::{ScanStage, stages};
use crate::cuda::split::RowSplit;
use crate::cuda::text::held;
use passhost_ir::kernel::{Op, Reg, ScanOp};

/// The turns that are computed between two barriers, and the threads that compute them.
struct ScanIterations<'a> {
    /// How many.
    together: u32,
    /// Threads of a row.
    threads: u32,
    /// The line that names the point of a turn `j` and a thread.
    point: String,
    /// The condition under which that point is inside, where not all are.
    inside: Option<&'a str>,
}

impl CudaEmitter<'_> {
    /// Whether a pass scans.
    pub(super) fn scans(&self, pass: &RowPass) -> bool {
        pass.anew.iter().any(|reg| self.scan_op(*reg).is_some())
    }

    fn scan_op(&self, reg: Reg) -> Option<(ScanOp, Reg)> {
        match self.kernel.body[reg.0 as usize].op {
            Op::Scan(op, operand) => Some((op, operand)),
            _ => None,
        }
    }

    /// A pass that scans, by `threads` threads for a row, in `turns`. Where not all of them have points in every turn,
    /// `inside` says which have.
    pub(super) fn scanning_turns(
        &mut self,
        context: &IndexContext,
        pass: &RowPass,
        (threads, turns): (u32, u32),
        inside: Option<&str>,
    ) {
        let together = self.schedule.turns_together(accumulator_bytes(self.kernel, self.analysis));
        let (ty, lanes) = (number_type(self.schedule.points.points()), self.schedule.lanes());
        let first = if turns == together { "j".to_owned() } else { format!("round * {together} + j") };
        let point = format!("const {ty} r = (({ty})({first}) * {threads} + lane) * {lanes};");
        self.text.open("");
        self.carried(pass);
        if turns > together {
            self.text.open(format_args!("for (u32 round = 0; round < {}; ++round)", turns / together));
        }
        self.scanning_round(context, pass, &ScanIterations { together, threads, point, inside });
        if turns > together {
            self.text.close();
        }
        self.text.close();
    }

    /// Declares what scans carry from turn to turn.
    fn carried(&mut self, pass: &RowPass) {
        for reg in &pass.anew {
            if let Some((op, _)) = self.scan_op(*reg) {
                let dtype = self.dtype(*reg);
                let start = neutral(op.reduction(), dtype);
                self.text.line(format_args!("{} carry{} = {start};", held(dtype), reg.0));
            }
        }
    }

    fn scanning_round(&mut self, context: &IndexContext, pass: &RowPass, turns: &ScanIterations<'_>) {
        let mut stages = stages(self.kernel, &pass.anew, |reg| self.operands(reg));
        // What the last scans give is known after them.
        stages.push(ScanStage::default());
        let mut named = vec![];
        for at in 0..stages.len() {
            named.extend(self.stage(context, pass, turns, (&stages, at)));
        }
        for reg in named {
            self.names.remove(&reg);
        }
    }

    /// Computes a stage and scans what it gave. Returns what has a name from here on.
    fn stage(
        &mut self,
        context: &IndexContext,
        pass: &RowPass,
        turns: &ScanIterations<'_>,
        (stages, at): (&[ScanStage], usize),
    ) -> Vec<Reg> {
        let (kernel, lanes, together) = (self.kernel, self.schedule.lanes(), turns.together);
        let stage = &stages[at];
        let known = |reg: Reg| {
            stages.iter().position(|stage| stage.insts.contains(&reg)).unwrap_or_else(|| {
                stages.iter().position(|stage| stage.scans.contains(&reg)).map_or(0, |stage| stage + 1)
            })
        };
        let of_this = |value: Reg| known(value) == at;
        let reduces: Vec<Reg> = pass
            .reduces
            .iter()
            .copied()
            .filter(|reg| self.operands(*reg).iter().all(|operand| of_this(*operand)))
            .collect();
        let stores: Vec<usize> =
            pass.stores.iter().copied().filter(|store| of_this(kernel.stores[*store].value)).collect();
        let later = stages[at + 1..].iter().flat_map(|later| later.insts.iter().chain(&later.scans));
        let read_later: Vec<Reg> = later.chain(&stage.scans).flat_map(|reg| self.operands(*reg)).collect();
        let keep: Vec<(Reg, String)> = stage
            .insts
            .iter()
            .filter(|reg| read_later.contains(reg))
            .map(|reg| (*reg, format!("k{}[j][v]", reg.0)))
            .collect();
        let works = !stage.insts.is_empty() || !reduces.is_empty() || !stores.is_empty();
        if !works && stage.scans.is_empty() {
            return vec![];
        }
        for (name, reg) in keep.iter().map(|(reg, _)| ("k", reg)).chain(stage.scans.iter().map(|reg| ("c", reg))) {
            let line = format!("{} {name}{}[{together}][{lanes}];", held(self.dtype(*reg)), reg.0);
            self.text.line(line);
        }
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 j = 0; j < {together}; ++j)"));
        self.text.line(&turns.point);
        if works {
            self.text.open(turns.inside.map(|inside| format!("if ({inside})")).unwrap_or_default());
            let (insts, store_if) = (&stage.insts, Some("active"));
            let work = LaneWork { insts, reduces: &reduces, stores: &stores, keep: keep.clone(), store_if, sums: "v" };
            self.work(context, work);
            self.text.close();
        }
        let mut named: Vec<Reg> = keep.iter().map(|(reg, _)| *reg).collect();
        self.names.extend(keep);
        for reg in &stage.scans {
            self.scanned_operand(*reg, turns.inside);
        }
        self.text.close();
        for reg in &stage.scans {
            self.scan_together(*reg, turns.threads);
            named.push(*reg);
        }
        named
    }

    /// Names what a scan reads at the points of a turn; outside it is what changes nothing.
    fn scanned_operand(&mut self, reg: Reg, inside: Option<&str>) {
        let Some((op, operand)) = self.scan_op(reg) else { return };
        let (number, lanes, start) = (reg.0, self.schedule.lanes(), neutral(op.reduction(), self.dtype(reg)));
        let x = self.name(operand);
        let x = inside.map_or(x.clone(), |inside| format!("{inside} ? {x} : {start}"));
        self.text.line("#pragma unroll");
        self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) c{number}[j][v] = {x};"));
    }

    fn scan_together(&mut self, reg: Reg, threads: u32) {
        let Some((op, _)) = self.scan_op(reg) else { return };
        let (number, dtype, functor) = (reg.0, self.dtype(reg), functor(op.reduction()));
        self.text.line(format_args!("scan<{functor}, {threads}>(c{number}, carry{number}, shared);"));
        if let RowSplit::Scanned { blocks } = self.schedule.split {
            let (all, ty, start) = (self.schedule.blocks(), held(dtype), neutral(op.reduction(), dtype));
            let posts = all + all / u64::from(blocks) * u64::from(blocks.div_ceil(threads));
            self.text.line(format_args!("static Posted<{ty}> posts{number}[{posts}];"));
            self.text.line(format_args!(
                "after<{functor}>(c{number}, before<{functor}, {threads}, {blocks}u, {all}u>(carry{number}, ({ty}){start}, \
                 place, posts{number}, shared));"
            ));
        }
        self.names.insert(reg, format!("c{number}[j][v]"));
    }
}
