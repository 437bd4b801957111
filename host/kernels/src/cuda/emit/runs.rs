//! Scans by neighbouring threads, turn by turn of their row.
//!
//! What a scan reads is computed by all threads, then the threads scan together, then all go on with what it gave: a
//! *stage* for each scan of a chain of them.

use super::reductions::neutral;
use super::work::Work;
use super::{Emitter, Spot};
use crate::cuda::column::functor;
use crate::cuda::passes::Pass;
use crate::cuda::scans::{Stage, stages};
use crate::cuda::text::held;
use passhost_ir::kernel::{Op, Reg, ScanOp};

impl Emitter<'_> {
    /// Whether a pass scans.
    pub(super) fn scans(&self, pass: &Pass) -> bool {
        pass.anew.iter().any(|reg| self.scan_op(*reg).is_some())
    }

    fn scan_op(&self, reg: Reg) -> Option<(ScanOp, Reg)> {
        match self.kernel.body[reg.0 as usize].op {
            Op::Scan(op, operand) => Some((op, operand)),
            _ => None,
        }
    }

    /// Declares what scans carry from turn to turn.
    pub(super) fn carried(&mut self, pass: &Pass) {
        for reg in &pass.anew {
            if let Some((op, _)) = self.scan_op(*reg) {
                let dtype = self.dtype(*reg);
                let start = neutral(op.reduction(), dtype);
                self.text.line(format_args!("{} carry{} = {start};", held(dtype), reg.0));
            }
        }
    }

    /// A turn of a pass that scans, by `threads` threads for a row. Where not all of them have points in every turn,
    /// `inside` says which have.
    pub(super) fn scanning_turn(&mut self, spot: &Spot, pass: &Pass, threads: u32, inside: Option<&str>) {
        let (kernel, lanes) = (self.kernel, self.schedule.lanes());
        let mut stages = stages(kernel, &pass.anew, |reg| self.operands(reg));
        // What the last scans give is known after them.
        stages.push(Stage::default());
        let known = |reg: Reg| {
            stages.iter().position(|stage| stage.insts.contains(&reg)).unwrap_or_else(|| {
                stages.iter().position(|stage| stage.scans.contains(&reg)).map_or(0, |stage| stage + 1)
            })
        };
        let mut named = vec![];
        for (at, stage) in stages.iter().enumerate() {
            let of_this = |value: Reg| known(value) == at;
            let reduces: Vec<Reg> = pass
                .reduces
                .iter()
                .copied()
                .filter(|reg| self.operands(*reg).iter().all(|operand| of_this(*operand)))
                .collect();
            let stores: Vec<usize> =
                pass.stores.iter().copied().filter(|store| of_this(kernel.stores[*store].value)).collect();
            let read_later: Vec<Reg> = stages[at + 1..]
                .iter()
                .flat_map(|later| later.insts.iter().chain(&later.scans))
                .chain(&stage.scans)
                .flat_map(|reg| self.operands(*reg))
                .collect();
            let keep: Vec<(Reg, String)> = stage
                .insts
                .iter()
                .filter(|reg| read_later.contains(reg))
                .map(|reg| (*reg, format!("k{}[v]", reg.0)))
                .collect();
            for (reg, _) in &keep {
                let line = format!("{} k{}[{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
            if !stage.insts.is_empty() || !reduces.is_empty() || !stores.is_empty() {
                self.text.open(inside.map(|inside| format!("if ({inside})")).unwrap_or_default());
                let work = Work {
                    insts: &stage.insts,
                    reduces: &reduces,
                    stores: &stores,
                    keep: keep.clone(),
                    store_if: Some("active"),
                    sums: "v",
                };
                self.work(spot, work);
                self.text.close();
            }
            named.extend(keep.iter().map(|(reg, _)| *reg));
            self.names.extend(keep);
            for reg in &stage.scans {
                self.scan_together(*reg, threads, inside);
                named.push(*reg);
            }
        }
        for reg in named {
            self.names.remove(&reg);
        }
    }

    fn scan_together(&mut self, reg: Reg, threads: u32, inside: Option<&str>) {
        let Some((op, operand)) = self.scan_op(reg) else { return };
        let (number, dtype, lanes) = (reg.0, self.dtype(reg), self.schedule.lanes());
        let (x, start, functor) = (self.name(operand), neutral(op.reduction(), dtype), functor(op.reduction()));
        let x = inside.map_or(x.clone(), |inside| format!("{inside} ? {x} : {start}"));
        self.text.line(format_args!("{} c{number}[{lanes}];", held(dtype)));
        self.text.line("#pragma unroll");
        self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) c{number}[v] = {x};"));
        self.text.line(format_args!("scan<{functor}, {threads}>(c{number}, carry{number}, shared);"));
        self.names.insert(reg, format!("c{number}[v]"));
    }
}
