//! From a kernel and a layout to CUDA C++.

mod choices;
mod exchange;
mod forms;
mod index;
mod memory;
mod reductions;
mod runs;
mod work;

pub(super) use reductions::accumulator_bytes;

use super::claims::Claims;
use super::passes::Passes;
use super::properties::DeviceProperties;
use super::schedule::{Chooser, Form, Schedule};
use super::split::Split;
use super::text::{Text, storage};
use crate::access::{Analysis, Layout};
use passhost_ir::kernel::{Facts, IndexId, Reg};
use passhost_ir::{Dtype, Kernel};
use std::collections::HashMap;

/// The function's name in the source.
pub const ENTRY: &str = "k";

const PRELUDE: &str = include_str!("../prelude.cu");

/// A kernel as source text, with the launch that it is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// CUDA C++ that defines [`ENTRY`]. Its parameters are the addresses of the inputs, then those of the outputs.
    pub text: String,
    /// Blocks of the grid; 0 if there is nothing to compute.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Which threads compute what: one of [`FORMS`](super::FORMS).
    pub form: &'static str,
    /// What the text takes for granted.
    pub claims: Claims,
}

/// Writes a verified kernel for inputs of a layout and a GPU with these properties.
pub fn emit(kernel: &Kernel, facts: &Facts, layout: &Layout, device: &DeviceProperties) -> KernelSource {
    let analysis = Analysis::new(kernel);
    let all = kernel.parallel.len() + kernel.reduce.len();
    let is_map = !analysis.reduces && kernel.stores.iter().all(|store| store.order.len() == all);
    let passes = Passes::new(kernel, facts, &analysis, !is_map);
    let chooser = Chooser { kernel, facts, analysis: &analysis, layout, device, is_map, passes: &passes };
    let schedule = chooser.choose();
    let (blocks, threads, form) = (schedule.blocks(), schedule.threads(), schedule.name(kernel, &analysis));
    let mut emitter = Emitter {
        kernel,
        facts,
        analysis: &analysis,
        layout,
        claims: Claims::new(&schedule),
        schedule,
        passes: &passes,
        reads: reads(kernel, &analysis),
        shared: vec![],
        text: Text::default(),
        names: HashMap::new(),
        counter: 0,
    };
    emitter.shared = emitter.shared_values();
    emitter.function();
    let text = format!("{PRELUDE}\n{}", emitter.text.finish());
    KernelSource { text, blocks, threads, form, claims: emitter.claims }
}

struct Emitter<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    analysis: &'a Analysis,
    layout: &'a Layout,
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
struct Spot {
    row: String,
    point: String,
}

/// A place in the text where index expressions are given names.
#[derive(Debug, Default)]
struct Scope {
    known: HashMap<IndexId, String>,
}

impl Emitter<'_> {
    fn function(&mut self) {
        let inputs = self
            .kernel
            .inputs
            .iter()
            .enumerate()
            .map(|(at, input)| format!("const {} *__restrict__ x{at}", storage(input.dtype)));
        let outputs = self
            .kernel
            .stores
            .iter()
            .enumerate()
            .map(|(at, store)| format!("{} *__restrict__ y{at}", storage(self.dtype(store.value))));
        let parameters: Vec<String> = inputs.chain(outputs).collect();
        let (threads, parameters) = (self.schedule.threads(), parameters.join(", "));
        let cluster = match self.schedule.split {
            Split::Cluster { blocks } => format!(" __cluster_dims__({blocks}, 1, 1)"),
            Split::Whole | Split::Last { .. } => String::new(),
        };
        self.text.open(format_args!(
            "extern \"C\" __global__ void __launch_bounds__({threads}){cluster} {ENTRY}({parameters})"
        ));
        let bytes = self.schedule.shared_bytes(accumulator_bytes(self.kernel, self.analysis));
        self.text.line(format_args!("__shared__ __align__(16) u8 shared[{}];", bytes.max(1)));
        self.arrive();
        match self.schedule.form {
            Form::Columns { wide, deep, lanes } => self.columns(wide, deep, lanes),
            Form::Rows { threads, rows, lanes, turns, kept } => self.rows(threads, rows, lanes, turns, kept),
        }
        self.text.close();
    }

    fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    fn name(&self, reg: Reg) -> String {
        self.names.get(&reg).cloned().unwrap_or_else(|| format!("v{}", reg.0))
    }
}

/// How often each value is read, by other values that are needed and by stores.
fn reads(kernel: &Kernel, analysis: &Analysis) -> Vec<usize> {
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
