//! The text around the bodies of kernels: one kernel as a function to launch, or several as one.
//!
//! Kernels that read and write nothing of each other's can be one launch: its first blocks are those of the first kernel,
//! the next ones those of the second. Each body is the text that it is alone, in a function of its own whose parameter
//! hides `blockIdx`, so that it computes what it computes alone, bit by bit. Blocks are as large as the largest body wants
//! them, and threads that a body has no use for leave before it begins: they are whole warps, and a barrier waits for
//! threads that are there. Shared memory is that of the body that wants the most.

use super::loops::{
    BLOCK, CudaType, DeviceFunction, Expression, FunctionRole, MemorySpace, SHARED, THREAD, ThreadStep, Variable,
    binary, call,
};
use super::print::source;
use super::properties::DeviceProperties;
use super::split::RowSplit;

/// The function's name in the source.
pub const ENTRY: &str = "k";

/// A kernel without the function around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelBody {
    /// Element types of the inputs, which the lines call `x0`, `x1` and so on.
    pub(super) inputs: Vec<&'static str>,
    /// Those of the outputs, `y0` and so on.
    pub(super) outputs: Vec<&'static str>,
    /// Bytes of a block's memory `shared`.
    pub(super) shared_bytes: u64,
    pub(super) blocks: u64,
    /// Threads of a block, whole warps.
    pub(super) threads: u32,
    /// Whether blocks share rows, which only those of a launch of its own can.
    pub(super) split: RowSplit,
    /// One of [`FORMS`](super::FORMS).
    pub(super) form: &'static str,
    pub(super) steps: Vec<ThreadStep>,
}

impl KernelBody {
    /// Its parameters: inputs, then outputs. `name` makes their names of a letter and a position.
    fn parameters(&self, name: impl Fn(&'static str, u32) -> Variable) -> [Vec<(CudaType, Variable)>; 2] {
        let of = |types: &[&'static str], ty: fn(&'static str) -> CudaType, letter| {
            types.iter().zip(0..).map(|(of, at)| (ty(of), name(letter, at))).collect()
        };
        [of(&self.inputs, CudaType::Input, "x"), of(&self.outputs, CudaType::Output, "y")]
    }

    /// Whether both are the same function.
    fn is_same(&self, other: &KernelBody) -> bool {
        (&self.inputs, &self.outputs, &self.steps) == (&other.inputs, &other.outputs, &other.steps)
    }
}

/// The text of one kernel. The parameters of its function are the inputs, then the outputs.
pub(super) fn alone(body: &KernelBody, device: &DeviceProperties) -> String {
    let launch = LaunchGrid { blocks: body.blocks, threads: body.threads, split: body.split };
    let entry = entry(launch, body.shared_bytes, body.parameters(Variable::of).concat(), body.steps.clone(), device);
    source(&[entry])
}

/// The text of several kernels. The parameters are the inputs of all of them, then all outputs.
pub(super) fn joined(bodies: &[KernelBody], device: &DeviceProperties) -> String {
    if let [body] = bodies {
        return alone(body, device);
    }
    let (mut functions, mut inputs, mut outputs, mut calls) = (vec![], vec![], vec![], vec![]);
    let (threads, mut first) = (threads(bodies), 0);
    for (number, body) in bodies.iter().enumerate() {
        let name = |letter, at| Variable { copy: Some(at), ..Variable::of(letter, number as u32) };
        let [of_inputs, of_outputs] = body.parameters(name);
        let arguments = of_inputs.iter().chain(&of_outputs).map(|(_, name)| (*name).into());
        if body.blocks > 0 {
            // Bodies that are alike share a function.
            let is_same = |before: &&KernelBody| before.blocks > 0 && before.is_same(body);
            let function = bodies[..number].iter().position(|before| is_same(&before)).unwrap_or(number);
            if function == number {
                functions.push(part(function as u32, body));
            }
            let end = first + body.blocks;
            calls.push(call_of((function, body), (first, end), threads, arguments));
            first = end;
        }
        inputs.extend(of_inputs);
        outputs.extend(of_outputs);
    }
    let shared = bodies.iter().map(|body| body.shared_bytes).max().unwrap_or(0);
    let launch = LaunchGrid { blocks: bodies.iter().map(|body| body.blocks).sum(), threads, split: RowSplit::Whole };
    functions.push(entry(launch, shared, [inputs, outputs].concat(), calls, device));
    source(&functions)
}

/// Threads of a block that has room for each body.
pub(super) fn threads(bodies: &[KernelBody]) -> u32 {
    bodies.iter().map(|body| body.threads).max().unwrap_or(1)
}

/// Blocks of a grid, threads of a block, and whether blocks share rows.
#[derive(Clone, Copy)]
struct LaunchGrid {
    blocks: u64,
    threads: u32,
    split: RowSplit,
}

impl LaunchGrid {
    /// Whether the blocks of a next launch like this one may take their places while these run. They must all find room:
    /// where some do and others wait for blocks to end, they are spread unevenly when they go on.
    fn leaves_room(self, device: &DeviceProperties) -> bool {
        2 * self.blocks.saturating_mul(self.threads.into()) <= device.busy_threads()
    }
}

/// The function that is launched.
fn entry(
    launch: LaunchGrid,
    shared_bytes: u64,
    parameters: Vec<(CudaType, Variable)>,
    steps: Vec<ThreadStep>,
    device: &DeviceProperties,
) -> DeviceFunction {
    let cluster = if let RowSplit::Cluster { blocks } = launch.split { blocks } else { 1 };
    let bytes = vec![shared_bytes.max(1)];
    let mut body = vec![
        ThreadStep::Declare(MemorySpace::SharedAligned, "u8".into(), SHARED, bytes, None),
        ThreadStep::Call(call("begin", [])),
    ];
    if launch.leaves_room(device) {
        body.push(ThreadStep::Call(call("let_next_begin", [])));
    }
    body.extend(steps);
    DeviceFunction { role: FunctionRole::Entry { threads: launch.threads, cluster }, parameters, body }
}

/// A body as a function of its own, whose parameter hides the number of the block.
fn part(number: u32, body: &KernelBody) -> DeviceFunction {
    let [inputs, outputs] = body.parameters(Variable::of);
    let hidden = [(CudaType::Plain("const Block"), Variable::named("blockIdx")), (CudaType::Pointer("u8"), SHARED)];
    let parameters = hidden.into_iter().chain(inputs).chain(outputs).collect();
    DeviceFunction { role: FunctionRole::Part(number), parameters, body: body.steps.clone() }
}

/// The blocks from `first` to `end` are a body's, which some of the threads leave.
fn call_of(
    (function, body): (usize, &KernelBody),
    (first, end): (u64, u64),
    threads: u32,
    arguments: impl Iterator<Item = Expression>,
) -> ThreadStep {
    let unsigned = |number: u64| Expression::Number(number.into(), "u");
    let mut steps = vec![];
    if body.threads < threads {
        steps.push(ThreadStep::Return.guarded(Some(binary(">=", THREAD, unsigned(body.threads.into())))));
    }
    let block = Expression::List(Some("Block".into()), vec![BLOCK - unsigned(first)]);
    steps.push(ThreadStep::Part(function as u32, [block, SHARED.into()].into_iter().chain(arguments).collect()));
    steps.push(ThreadStep::Return);
    ThreadStep::If(binary("<", BLOCK, unsigned(end)), steps, vec![])
}
