//! From a kernel and a layout to CUDA C++.

mod branches;
mod choices;
mod columns;
mod exchange;
mod forms;
mod index;
mod memory;
mod reductions;
mod runs;
mod tiled;
mod work;

use super::chooser::{Chooser, has_long_rows};
use super::claims::Claims;
use super::join::{self, KernelBody};
use super::passes::Passes;
use super::properties::DeviceProperties;
use super::scans::{accumulator_bytes, scans};
use super::schedule::{Schedule, ScheduleForm};
use super::text::{Text, storage};
use super::tiles::Tiles;
use crate::access::{KernelAnalysis, KernelLayout};
use passhost_ir::kernel::{Facts, IndexId, Reg};
use passhost_ir::{Dtype, Kernel};
use std::collections::HashMap;

/// A kernel as source text, with the launch that it is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// CUDA C++ that defines [`ENTRY`](super::ENTRY). Its parameters are the addresses of the inputs, then those of the outputs.
    pub text: String,
    /// Blocks of the grid; 0 if there is nothing to compute.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Which threads compute what: one of [`FORMS`](super::FORMS).
    pub form: &'static str,
    /// The whole schedule: what tells it from the kernel's other candidates.
    pub schedule: String,
    /// What the text takes for granted.
    pub claims: Claims,
}

/// Several kernels as one source text, with the launch that it is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedSource {
    /// CUDA C++ that defines [`ENTRY`](super::ENTRY). Its parameters are the addresses of the inputs of all kernels, then those of all
    /// outputs.
    pub text: String,
    /// Blocks of the grid, one kernel's after the other's.
    pub blocks: u64,
    /// Threads of a block, as many as any of the kernels wants.
    pub threads: u32,
    /// Which threads compute what, where it is one kernel: one of [`FORMS`](super::FORMS); or `joined`.
    pub form: &'static str,
    /// For each kernel what its part of the text takes for granted.
    pub claims: Vec<Claims>,
}

/// Writes a verified kernel for inputs of a layout and a GPU with these properties, in its default schedule.
pub fn emit(kernel: &Kernel, facts: &Facts, layout: &KernelLayout, device: &DeviceProperties) -> KernelSource {
    choosing(kernel, facts, layout, (device, true), |chooser| alone(chooser, chooser.choose()))
}

/// Writes it in each of its candidates, all of which give the same bits: the default first, up to
/// [`MOST_CANDIDATES`](super::MOST_CANDIDATES).
pub fn candidates(
    kernel: &Kernel,
    facts: &Facts,
    layout: &KernelLayout,
    device: &DeviceProperties,
) -> Vec<KernelSource> {
    choosing(kernel, facts, layout, (device, true), |chooser| {
        chooser.candidates().into_iter().map(|schedule| alone(chooser, schedule)).collect()
    })
}

/// Writes it in the candidate that is called `schedule`; `None` if it has none of that name.
pub fn emit_as(
    (kernel, facts): (&Kernel, &Facts),
    layout: &KernelLayout,
    device: &DeviceProperties,
    schedule: &str,
) -> Option<KernelSource> {
    choosing(kernel, facts, layout, (device, true), |chooser| {
        let chosen = chooser.candidates().into_iter().find(|candidate| candidate.to_string() == schedule)?;
        Some(alone(chooser, chosen))
    })
}

fn alone(chooser: &Chooser<'_>, schedule: Schedule) -> KernelSource {
    let name = schedule.to_string();
    let (body, claims) = written(chooser, schedule);
    KernelSource {
        text: join::alone(&body, chooser.device),
        blocks: body.blocks,
        threads: body.threads,
        form: body.form,
        schedule: name,
        claims,
    }
}

/// Writes verified kernels as one launch, in which they run in no order. The text of a single one is that of [`emit`].
pub fn emit_joined(kernels: &[(&Kernel, &Facts, &KernelLayout)], device: &DeviceProperties) -> JoinedSource {
    let is_alone = kernels.len() == 1;
    let written = kernels.iter().map(|(kernel, facts, layout)| body(kernel, facts, layout, device, is_alone));
    let (bodies, claims): (Vec<KernelBody>, Vec<Claims>) = written.unzip();
    JoinedSource {
        text: join::joined(&bodies, device),
        blocks: bodies.iter().map(|body| body.blocks).sum(),
        threads: join::threads(&bodies),
        form: if let [body] = &bodies[..] { body.form } else { "joined" },
        claims,
    }
}

/// What a kernel computes as text in its default schedule, without the function around it. Blocks may share rows only in
/// a launch of its own.
pub(super) fn body(
    kernel: &Kernel,
    facts: &Facts,
    layout: &KernelLayout,
    device: &DeviceProperties,
    may_share: bool,
) -> (KernelBody, Claims) {
    choosing(kernel, facts, layout, (device, may_share), |chooser| written(chooser, chooser.choose()))
}

/// Gives `work` what a kernel's schedule is chosen by.
fn choosing<T>(
    kernel: &Kernel,
    facts: &Facts,
    layout: &KernelLayout,
    (device, may_share): (&DeviceProperties, bool),
    work: impl FnOnce(&Chooser<'_>) -> T,
) -> T {
    let analysis = KernelAnalysis::new(kernel);
    let all = kernel.parallel.len() + kernel.reduce.len();
    let is_map = !analysis.reduces && kernel.stores.iter().all(|store| store.order.len() == all);
    let passes = Passes::new(kernel, facts, &analysis, !is_map, has_long_rows(kernel));
    work(&Chooser { kernel, facts, analysis: &analysis, layout, device, is_map, may_share, passes: &passes })
}

/// What a kernel computes as text in this schedule.
fn written(chooser: &Chooser<'_>, schedule: Schedule) -> (KernelBody, Claims) {
    let &Chooser { kernel, facts, analysis, layout, passes, .. } = chooser;
    let mut claims = Claims::new(&schedule);
    if schedule.tiles.is_some() {
        claims.reach = (schedule.rows.points(), 1);
    }
    let accumulator = accumulator_bytes(kernel, analysis);
    let together = if scans(kernel, analysis) { schedule.turns_together(accumulator) } else { 1 };
    let accumulators = schedule.shared_bytes(accumulator) * u64::from(together);
    let shared_bytes = schedule.tiles.as_ref().map_or(accumulators, Tiles::shared_bytes);
    let (blocks, split, form) = (schedule.blocks(), schedule.split, schedule.name(kernel, analysis));
    let mut emitter = CudaEmitter {
        kernel,
        facts,
        analysis,
        layout,
        claims,
        schedule,
        passes,
        reads: reads(kernel, analysis),
        shared: vec![],
        text: Text::inside(),
        names: HashMap::new(),
        counter: 0,
    };
    emitter.shared = emitter.shared_values();
    emitter.lines();
    let body = KernelBody {
        inputs: kernel.inputs.iter().map(|input| storage(input.dtype)).collect(),
        outputs: kernel.stores.iter().map(|store| storage(emitter.dtype(store.value))).collect(),
        shared_bytes,
        blocks,
        split,
        form,
        threads: emitter.schedule.threads(),
        lines: emitter.text.finish(),
    };
    (body, emitter.claims)
}

struct CudaEmitter<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    analysis: &'a KernelAnalysis,
    layout: &'a KernelLayout,
    claims: Claims,
    schedule: Schedule,
    passes: &'a Passes,
    /// How often each value is read.
    reads: Vec<usize>,
    /// Whether each value is made of literals and index expressions that all lanes share.
    shared: Vec<bool>,
    text: Text,
    /// How each value is called here and now.
    names: HashMap<Reg, String>,
    counter: usize,
}

/// Where code computes: the texts of the row's and the point's number.
#[derive(Debug, Clone)]
struct IndexContext {
    row: String,
    point: String,
}

/// A place in the text where index expressions are given names.
#[derive(Debug, Default)]
struct NameScope {
    known: HashMap<IndexId, String>,
}

impl CudaEmitter<'_> {
    fn lines(&mut self) {
        if let Some(tiles) = self.schedule.tiles.clone() {
            return self.tiled_map(&tiles);
        }
        self.arrive();
        match self.schedule.form {
            ScheduleForm::Columns { wide, deep, lanes, kept } => self.columns((wide, deep), lanes, kept),
            ScheduleForm::Rows { threads, rows, lanes, turns, kept } => self.rows(threads, rows, lanes, turns, kept),
        }
    }

    fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    fn name(&self, reg: Reg) -> String {
        self.names.get(&reg).cloned().unwrap_or_else(|| format!("v{}", reg.0))
    }
}

/// How often each value is read, by other values that are needed and by stores.
fn reads(kernel: &Kernel, analysis: &KernelAnalysis) -> Vec<usize> {
    let mut reads = vec![0; kernel.body.len()];
    for at in (0..kernel.body.len()).filter(|at| analysis.needed[*at]) {
        for reg in kernel.body[at].op.operands().iter().chain(&analysis.gathers[at]) {
            reads[reg.0 as usize] += 1;
        }
    }
    for store in &kernel.stores {
        reads[store.value.0 as usize] += 1;
    }
    reads
}
