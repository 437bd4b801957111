//! Scans by neighbouring threads, some turns of their row at a time.
//!
//! What a scan reads is computed by all threads, then the threads scan together, then all go on with what it gave: a
//! *stage* for each scan of a chain of them.

use super::index::number_type;
use super::work::LaneWork;
use super::{ACTIVE, CudaEmitter, IndexContext, count, lanes, of};
use crate::cuda::column::{functor, functor_call, neutral};
use crate::cuda::loops::{CudaType, Expression, MemorySpace, SHARED, ThreadStep, Unroll, Variable, number};
use crate::cuda::passes::RowPass;
use crate::cuda::scans::{ScanStage, stages};
use crate::cuda::split::RowSplit;
use crate::cuda::types::held;
use passhost_ir::kernel::{Op, Reg, ScanOp};

/// The turns that are computed between two barriers, and the threads that compute them.
struct ScanIterations {
    /// How many.
    together: u32,
    /// Threads of a row.
    threads: u32,
    /// The number of the point at a turn `j` and a thread.
    point: Expression,
    /// The condition under which that point is inside, where not all are.
    inside: Option<Expression>,
}

impl CudaEmitter<'_> {
    /// Whether a pass scans.
    pub(super) fn scans(&self, pass: &RowPass) -> bool {
        pass.anew.iter().any(|reg| self.scan_op(*reg).is_some())
    }

    fn scan_op(&self, reg: Reg) -> Option<(ScanOp, Reg)> {
        match *self.of.op(reg) {
            Op::Scan(op, operand) => Some((op, operand)),
            _ => None,
        }
    }

    /// A pass that scans, by `threads` threads for a row, in `turns`. Where not all of them have points in every turn,
    /// `inside` says which have.
    pub(super) fn scanning_turns(&mut self, pass: &RowPass, (threads, turns): (u32, u32), inside: Option<Expression>) {
        let together = self.schedule.turns_together(self.of.accumulator_bytes());
        let ty = number_type(self.schedule.points.points());
        let [lane, turn, round] = ["lane", "j", "round"].map(Variable::named);
        let at = if turns == together { turn.into() } else { round * together + turn };
        let point = (at.group().cast(ty) * threads + lane) * self.schedule.lanes();
        let iterations = ScanIterations { together, threads, point, inside };
        self.scope(|this| {
            for reg in &pass.anew {
                if let Some((op, _)) = this.scan_op(*reg) {
                    let dtype = this.dtype(*reg);
                    this.begin(held(dtype), of("carry", *reg), &[], neutral(op.reduction(), dtype));
                }
            }
            if turns > together {
                let rounds = count("u32", "round", 0..(turns / together).into(), None);
                this.each(rounds, |this| this.scanning_round(pass, &iterations));
            } else {
                this.scanning_round(pass, &iterations);
            }
        });
    }

    fn scanning_round(&mut self, pass: &RowPass, turns: &ScanIterations) {
        let mut stages = stages(self.of.kernel, &pass.anew, |reg| self.operands(reg));
        // What the last scans give is known after them.
        stages.push(ScanStage::default());
        for at in 0..stages.len() {
            self.stage(pass, turns, (&stages, at));
        }
    }

    /// Computes a stage and scans what it gave.
    fn stage(&mut self, pass: &RowPass, turns: &ScanIterations, (stages, at): (&[ScanStage], usize)) {
        let (kernel, width, together) = (self.of.kernel, self.schedule.lanes(), turns.together);
        let stage = &stages[at];
        let known = |reg: Reg| {
            stages.iter().position(|stage| stage.insts.contains(&reg)).unwrap_or_else(|| {
                stages.iter().position(|stage| stage.scans.contains(&reg)).map_or(0, |stage| stage + 1)
            })
        };
        let of_this = |value: Reg| known(value) == at;
        let is_of_this = |reg: &Reg| self.operands(*reg).iter().all(|operand| of_this(*operand));
        let reduces: Vec<Reg> = pass.reduces.iter().copied().filter(is_of_this).collect();
        let stores: Vec<usize> =
            pass.stores.iter().copied().filter(|store| of_this(kernel.stores[*store].value)).collect();
        let later = stages[at + 1..].iter().flat_map(|later| later.insts.iter().chain(&later.scans));
        let read_later: Vec<Reg> = later.chain(&stage.scans).flat_map(|reg| self.operands(*reg)).collect();
        let keep: Vec<Reg> = stage.insts.iter().copied().filter(|reg| read_later.contains(reg)).collect();
        let works = !stage.insts.is_empty() || !reduces.is_empty() || !stores.is_empty();
        if !works && stage.scans.is_empty() {
            return;
        }
        keep.iter().for_each(|reg| self.array("k", *reg, &[together.into()]));
        stage.scans.iter().for_each(|reg| self.array("c", *reg, &[together.into()]));
        let context = IndexContext::at(Variable::named("j"));
        self.each(count("u32", "j", 0..together.into(), Some(Unroll::All)), |this| {
            this.define(number_type(this.schedule.points.points()), Variable::named("r"), turns.point.clone());
            if works {
                let steps = this.within(|this| {
                    let keep = keep.iter().map(|reg| (*reg, this.kept(*reg, &context))).collect();
                    let (reduces, stores, store_if) = (&reduces[..], &stores[..], Some(ACTIVE.into()));
                    this.work(&context, LaneWork { reduces, stores, keep, store_if, ..LaneWork::new(&stage.insts) });
                });
                this.steps.push(match turns.inside.clone() {
                    Some(inside) => ThreadStep::If(inside, steps, vec![]),
                    None => ThreadStep::Scope(steps),
                });
            }
            // What a scan reads at the points of the turn; outside it is what changes nothing.
            for reg in &stage.scans {
                let Some((op, operand)) = this.scan_op(*reg) else { continue };
                let x = this.operand(operand, &context);
                let x = match turns.inside.clone() {
                    Some(inside) => inside.select(x, neutral(op.reduction(), this.dtype(*reg))),
                    None => x,
                };
                let read = ThreadStep::Assign(this.operand(*reg, &context), x);
                this.steps.push(ThreadStep::Each(lanes(width), Box::new(read)));
            }
        });
        for reg in &stage.scans {
            self.scan_together(*reg, turns.threads);
        }
    }

    fn scan_together(&mut self, reg: Reg, threads: u32) {
        let Some((op, _)) = self.scan_op(reg) else { return };
        let (op, dtype) = (op.reduction(), self.dtype(reg));
        let [values, carry, posts] = ["c", "carry", "posts"].map(|stem| of(stem, reg));
        self.call(functor_call(op, "scan", &[threads], vec![values.into(), carry.into(), SHARED.into()]));
        let RowSplit::Scanned { blocks } = self.schedule.split else { return };
        let (all, ty) = (self.schedule.blocks(), held(dtype));
        let count = all + all / u64::from(blocks) * u64::from(blocks.div_ceil(threads));
        self.declare(MemorySpace::Static, CudaType::Template("Posted", ty), posts, &[count]);
        let functor = Variable::named(functor(op)).into();
        let template = vec![functor, threads.into(), number(blocks, "u32"), number(all, "u32")];
        let start = neutral(op, dtype).cast(ty);
        let place = Variable::named("place");
        let arguments = vec![carry.into(), start, place.into(), posts.into(), SHARED.into()];
        let before = Expression::Call("before", template, arguments);
        self.call(functor_call(op, "after", &[], vec![values.into(), before]));
    }
}
