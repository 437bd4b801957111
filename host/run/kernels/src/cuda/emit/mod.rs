//! From a kernel, a layout and a schedule to a loop form.

mod choices;
mod columns;
mod contracted;
mod exchange;
mod forms;
mod index;
mod memory;
mod runs;
mod tiled;
mod work;

use super::chooser::{Chooser, has_long_rows};
use super::claims::{Claim, Claims};
use super::contraction::Contraction;
use super::join::{self, KernelBody};
use super::loops::{
    CudaType, DeviceFunction, Expression, FunctionRole, LoopRange, MemorySpace, ThreadStep, Unroll, Variable,
};
use super::name;
use super::passes::Passes;
use super::properties::DeviceProperties;
use super::schedule::{Schedule, ScheduleForm};
use super::split::RowSplit;
use super::tiles::Tiles;
use super::types::storage;
use crate::access::{KernelAnalysis, KernelLayout};
use passhost_ir::kernel::{Class, Facts, Op, Reg};
use passhost_ir::{Dtype, Kernel};
use std::ops::Range;

/// Kernels as source text, with the launch that it is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// What the function is called, by the operations of the kernels.
    pub name: String,
    /// CUDA C++ that defines it. Its parameters are the addresses of the inputs of all kernels, then
    /// those of all outputs.
    pub text: String,
    /// Blocks of the grid, one kernel's after the other's; 0 if there is nothing to compute.
    pub blocks: u64,
    /// Threads of a block, as many as any of the kernels wants.
    pub threads: u32,
    /// Bytes of shared memory that a launch asks for, which the text does not declare.
    pub shared_bytes: u32,
    /// Which threads compute what, where it is one kernel: one of [`FORMS`](super::FORMS); or `joined`.
    pub form: &'static str,
    /// The whole schedule of one kernel: what tells it from the kernel's other candidates; or `joined`.
    pub schedule: String,
    /// What the text takes for granted, for each kernel and the numbers that its points have in a part of it.
    pub claims: Vec<Claims>,
}

impl KernelSource {
    fn new(bodies: Vec<KernelBody>, device: &DeviceProperties) -> KernelSource {
        let (form, schedule) = match &bodies[..] {
            [body] => (body.form, body.schedule.to_string()),
            _ => ("joined", "joined".to_owned()),
        };
        let name = join::name(&bodies);
        let text = join::joined(&bodies, &name, device);
        let (blocks, threads) = (join::blocks(&bodies), join::threads(&bodies));
        let shared_bytes = join::asked_bytes(&bodies);
        let claims = bodies.into_iter().flat_map(|body| body.claims).collect();
        KernelSource { name, text, blocks, threads, shared_bytes, form, schedule, claims }
    }
}

/// Writes a verified kernel for inputs of a layout and a GPU with these properties, in its default schedule.
pub fn emit(kernel: &Kernel, facts: &Facts, layout: &KernelLayout, device: &DeviceProperties) -> KernelSource {
    emit_joined(&[(kernel, facts, layout)], device)
}

/// Writes it in each of its candidates, all of which give the same bits: the default first, up to
/// [`MOST_CANDIDATES`](super::MOST_CANDIDATES).
pub fn candidates(
    kernel: &Kernel,
    facts: &Facts,
    layout: &KernelLayout,
    device: &DeviceProperties,
) -> Vec<KernelSource> {
    choosing((kernel, facts, layout), (device, true), |chooser| {
        let all = chooser.candidates().into_iter();
        all.map(|schedule| KernelSource::new(vec![written(chooser, schedule)], device)).collect()
    })
}

/// Writes it in the candidate that is called `schedule`; `None` if it has none of that name.
pub fn emit_as(
    (kernel, facts): (&Kernel, &Facts),
    layout: &KernelLayout,
    device: &DeviceProperties,
    schedule: &str,
) -> Option<KernelSource> {
    choosing((kernel, facts, layout), (device, true), |chooser| {
        let chosen = chooser.candidates().into_iter().find(|candidate| candidate.to_string() == schedule)?;
        Some(KernelSource::new(vec![written(chooser, chosen)], device))
    })
}

/// Writes verified kernels as one launch, in which they run in no order. The text of a single one is that of [`emit`].
pub fn emit_joined(kernels: &[(&Kernel, &Facts, &KernelLayout)], device: &DeviceProperties) -> KernelSource {
    KernelSource::new(kernels.iter().map(|kernel| body(*kernel, device, kernels.len() == 1)).collect(), device)
}

/// What a kernel computes in its default schedule. Blocks may share rows only in a launch of its own.
pub(super) fn body(kernel: (&Kernel, &Facts, &KernelLayout), device: &DeviceProperties, may_share: bool) -> KernelBody {
    choosing(kernel, (device, may_share), |chooser| written(chooser, chooser.schedule()))
}

/// Gives `work` what a kernel's schedule is chosen by.
fn choosing<T>(
    (kernel, facts, layout): (&Kernel, &Facts, &KernelLayout),
    (device, may_share): (&DeviceProperties, bool),
    work: impl FnOnce(&Chooser<'_>) -> T,
) -> T {
    let analysis = KernelAnalysis::new(kernel);
    let all = kernel.parallel.len() + kernel.reduce.len();
    let is_map = !analysis.reduces && kernel.stores.iter().all(|store| store.order.len() == all);
    let passes = Passes::new(kernel, facts, &analysis, !is_map, has_long_rows(kernel));
    work(&Chooser { kernel, facts, analysis: &analysis, layout, device, is_map, may_share, passes: &passes })
}

/// What a kernel computes in this schedule.
fn written(chooser: &Chooser<'_>, schedule: Schedule) -> KernelBody {
    let (kernel, accumulator) = (chooser.kernel, chooser.accumulator_bytes());
    // A contraction numbers points anew for each of its parts.
    let claims = if schedule.contraction.is_some() { vec![] } else { vec![Claims::new(&schedule)] };
    let together = if chooser.scans() { schedule.turns_together(accumulator) } else { 1 };
    let accumulators = schedule.shared_bytes(accumulator) * u64::from(together);
    let of_contraction = schedule.contraction.as_ref().map_or(accumulators, Contraction::shared_bytes);
    let shared_bytes = schedule.tiles.as_ref().map_or(of_contraction, Tiles::shared_bytes);
    let reads = reads(chooser);
    let mut emitter = CudaEmitter { of: chooser, claims, schedule, reads, shared: vec![], steps: vec![], indices: 0 };
    emitter.shared = emitter.shared_values();
    emitter.write();
    let inputs = kernel.inputs.iter().zip(0..).map(|(input, at)| (storage(input.dtype), Variable::of("x", at)));
    let outputs = kernel.stores.iter().map(|store| storage(chooser.dtype(store.value)));
    let outputs = outputs.zip(0..).map(|(ty, at)| (ty, Variable::of("y", at)));
    let (inputs, outputs) = (inputs.collect(), outputs.collect());
    let CudaEmitter { schedule, claims, steps: body, .. } = emitter;
    let function = DeviceFunction { role: FunctionRole::Part(0), inputs, outputs, body };
    let operations = name::operations(kernel);
    KernelBody { operations, function, shared_bytes, form: schedule.name(chooser.scans()), schedule, claims }
}

struct CudaEmitter<'a> {
    /// The kernel, and what is known of it.
    of: &'a Chooser<'a>,
    /// For each numbering of points that was gone over.
    claims: Vec<Claims>,
    schedule: Schedule,
    /// How often each value is read.
    reads: Vec<usize>,
    /// Whether each value is made of literals and index expressions that all lanes share.
    shared: Vec<bool>,
    /// The steps of the innermost block that is being written.
    steps: Vec<ThreadStep>,
    /// How many variables hold index expressions.
    indices: u32,
}

/// Where code computes.
#[derive(Debug, Clone)]
struct IndexContext<'a> {
    /// The numbers of the row and of the point.
    row: Expression,
    point: Expression,
    /// Whether it is a lane's context, whose number is that of the thread's first lane and the lane.
    lane: bool,
    /// Which of its points the thread is at: where values that it keeps of them lie.
    turn: Expression,
    /// What is computed here. Other values were computed before.
    own: &'a [Reg],
    /// From which step of the block on index expressions that were computed are known.
    since: usize,
}

impl IndexContext<'_> {
    /// At the row `p`, and the point `r`, of this turn.
    fn at(turn: impl Into<Expression>) -> IndexContext<'static> {
        let [row, point] = ["p", "r"].map(|name| Variable::named(name).into());
        IndexContext { row, point, lane: false, turn: turn.into(), own: &[], since: 0 }
    }
}

/// A lane of a thread.
const LANE: Variable = Variable::named("v");
/// Whether a thread has a row of its own.
const ACTIVE: Variable = Variable::named("active");

/// A variable for something of a value.
fn of(stem: &'static str, reg: Reg) -> Variable {
    Variable::of(stem, reg.0)
}

/// A loop over some.
fn count(ty: &'static str, name: &'static str, range: Range<u64>, unroll: Option<Unroll>) -> LoopRange {
    LoopRange { ty, variable: Variable::named(name), range, unroll }
}

/// A loop over lanes.
fn lanes(lanes: u32) -> LoopRange {
    count("int", "v", 0..lanes.into(), Some(Unroll::All))
}

impl CudaEmitter<'_> {
    fn write(&mut self) {
        if let Some(tiles) = self.schedule.tiles.clone() {
            return self.tiled_map(&tiles);
        }
        if let Some(contraction) = self.schedule.contraction.clone() {
            return self.contracted(&contraction);
        }
        self.arrive();
        match self.schedule.form {
            ScheduleForm::Columns { wide, deep, lanes } => self.columns((wide, deep), lanes),
            ScheduleForm::Rows { threads, rows, lanes, turns, kept } => self.rows(threads, rows, lanes, turns, kept),
        }
    }

    fn dtype(&self, reg: Reg) -> Dtype {
        self.of.dtype(reg)
    }

    /// Where a value is that is needed in a context: in the variable that it is computed into there, or where it is left
    /// for those that need it later.
    fn operand(&self, reg: Reg, context: &IndexContext<'_>) -> Expression {
        let by_rows = matches!(self.schedule.form, ScheduleForm::Rows { .. });
        match self.of.op(reg) {
            _ if context.own.contains(&reg) => of("v", reg).into(),
            _ if self.schedule.tiles.is_some() => self.in_tile(reg),
            Op::Reduce(..) if by_rows && self.schedule.split == RowSplit::Whole => of("v", reg).into(),
            Op::Reduce(..) if by_rows => self.reduced(reg, of("sum", reg).at(0)),
            Op::Reduce(..) => self.reduced(reg, of("sum", reg).at(LANE)),
            Op::Scan(..) => of("c", reg).at(context.turn.clone()).at(LANE),
            _ if self.of.facts.class(reg) == Class::Elem => self.kept(reg, context),
            _ if by_rows => of("v", reg).into(),
            _ => of("k", reg).at(LANE),
        }
    }

    /// Where a thread keeps a value of a point.
    fn kept(&self, reg: Reg, context: &IndexContext<'_>) -> Expression {
        of("k", reg).at(context.turn.clone()).at(LANE)
    }

    /// Notes down what the text takes for granted.
    fn claim(&mut self, claim: Claim) {
        self.claims.last_mut().into_iter().for_each(|claims| claims.list.push(claim.clone()));
    }

    /// Names a value.
    fn define(&mut self, ty: impl Into<CudaType>, name: Variable, value: impl Into<Expression>) {
        self.steps.push(ThreadStep::Let(ty.into(), vec![(name, value.into())]));
    }

    /// Declares arrays.
    fn declare(&mut self, space: MemorySpace, ty: impl Into<CudaType>, name: Variable, extents: &[u64]) {
        self.steps.push(ThreadStep::Declare(space, ty.into(), name, extents.to_vec(), None));
    }

    /// Makes a variable that begins as a value.
    fn begin(&mut self, ty: impl Into<CudaType>, name: Variable, extents: &[u64], first: Expression) {
        self.steps.push(ThreadStep::Declare(MemorySpace::Registers, ty.into(), name, extents.to_vec(), Some(first)));
    }

    fn assign(&mut self, place: Expression, value: impl Into<Expression>) {
        self.steps.push(ThreadStep::Assign(place, value.into()));
    }

    fn call(&mut self, call: Expression) {
        self.steps.push(ThreadStep::Call(call));
    }

    /// The steps that `write` writes, for a block of their own.
    fn within(&mut self, write: impl FnOnce(&mut Self)) -> Vec<ThreadStep> {
        let around = std::mem::take(&mut self.steps);
        write(self);
        std::mem::replace(&mut self.steps, around)
    }

    fn each(&mut self, range: LoopRange, write: impl FnOnce(&mut Self)) {
        let steps = self.within(write);
        self.steps.push(ThreadStep::Loop(range, steps));
    }

    fn scope(&mut self, write: impl FnOnce(&mut Self)) {
        let steps = self.within(write);
        self.steps.push(ThreadStep::Scope(steps));
    }

    /// Steps under a condition, if there is one.
    fn when(&mut self, condition: Option<Expression>, write: impl FnOnce(&mut Self)) {
        let Some(condition) = condition else { return write(self) };
        let steps = self.within(write);
        self.steps.push(ThreadStep::If(condition, steps, vec![]));
    }
}

/// How often each value is read, by other values that are needed and by stores.
fn reads(of: &Chooser<'_>) -> Vec<usize> {
    let mut reads = vec![0; of.kernel.body.len()];
    let by_values = of.needed().flat_map(|(reg, _)| of.analysis.reads(of.kernel, reg));
    for reg in by_values.chain(of.kernel.stores.iter().map(|store| store.value)) {
        reads[reg.0 as usize] += 1;
    }
    reads
}
