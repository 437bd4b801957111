//! The text around the bodies of kernels: one kernel as a function to launch, or several as one.
//!
//! Kernels that read and write nothing of each other's can be one launch: its first blocks are those of the first kernel,
//! the next ones those of the second. Each body is the text that it is alone, in a function of its own whose parameter
//! hides `blockIdx`, so that it computes what it computes alone, bit by bit. Blocks are as large as the largest body wants
//! them, and threads that a body has no use for leave before it begins: they are whole warps, and a barrier waits for
//! threads that are there. Shared memory is that of the body that wants the most.

use super::claims::Claims;
use super::loops::{
    BLOCK, CudaType, DeviceFunction, Expression, FunctionRole, MemorySpace, SHARED, THREAD, ThreadStep, Variable,
    binary, call, number,
};
use super::print::source;
use super::properties::DeviceProperties;
use super::schedule::Schedule;
use super::split::RowSplit;

/// A kernel without the function around it.
#[derive(Debug)]
pub(super) struct KernelBody {
    /// Element types of the inputs, which the steps call `x0`, `x1` and so on.
    pub(super) inputs: Vec<&'static str>,
    /// Those of the outputs, `y0` and so on.
    pub(super) outputs: Vec<&'static str>,
    /// Bytes of a block's memory `shared`.
    pub(super) shared_bytes: u64,
    /// Blocks share rows only in a launch of its own.
    pub(super) schedule: Schedule,
    /// One of [`FORMS`](super::FORMS).
    pub(super) form: &'static str,
    pub(super) steps: Vec<ThreadStep>,
    /// What they take for granted.
    pub(super) claims: Claims,
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

/// The text of kernels. The parameters are the inputs of all of them, then all outputs.
pub(super) fn joined(bodies: &[KernelBody], device: &DeviceProperties) -> String {
    let (mut functions, mut inputs, mut outputs, mut steps) = (vec![], vec![], vec![], vec![]);
    let (threads, mut first) = (threads(bodies), 0);
    for (position, body) in bodies.iter().enumerate() {
        let is_alone = bodies.len() == 1;
        let name = |letter, at| Variable { copy: Some(at), ..Variable::of(letter, position as u32) };
        let [of_inputs, of_outputs] = if is_alone { body.parameters(Variable::of) } else { body.parameters(name) };
        if is_alone {
            steps.clone_from(&body.steps);
        } else if body.schedule.blocks() > 0 {
            // Bodies that are alike share a function.
            let is_same = |before: &KernelBody| before.schedule.blocks() > 0 && before.is_same(body);
            let function = bodies[..position].iter().position(is_same).unwrap_or(position);
            if function == position {
                functions.push(part(function as u32, body));
            }
            let arguments = of_inputs.iter().chain(&of_outputs).map(|(_, name)| (*name).into());
            steps.push(call_of((function, body), first, threads, arguments));
            first += body.schedule.blocks();
        }
        inputs.extend(of_inputs);
        outputs.extend(of_outputs);
    }
    let shared_bytes = bodies.iter().map(|body| body.shared_bytes).max().unwrap_or(0).max(1);
    let mut body = vec![
        ThreadStep::Declare(MemorySpace::SharedAligned, "u8".into(), SHARED, vec![shared_bytes], None),
        ThreadStep::Call(call("begin", [])),
    ];
    // The blocks of a next launch like this one may take their places while these run, if all find room: where some do
    // and others wait for blocks to end, they are spread unevenly when they go on.
    if 2 * blocks(bodies).saturating_mul(threads.into()) <= device.busy_threads() {
        body.push(ThreadStep::Call(call("let_next_begin", [])));
    }
    body.extend(steps);
    let cluster = match bodies {
        [KernelBody { schedule: Schedule { split: RowSplit::Cluster { blocks }, .. }, .. }] => *blocks,
        _ => 1,
    };
    let parameters = [inputs, outputs].concat();
    functions.push(DeviceFunction { role: FunctionRole::Entry { threads, cluster }, parameters, body });
    source(&functions)
}

/// Blocks of a grid of all bodies.
pub(super) fn blocks(bodies: &[KernelBody]) -> u64 {
    bodies.iter().map(|body| body.schedule.blocks()).sum()
}

/// Threads of a block that has room for each body.
pub(super) fn threads(bodies: &[KernelBody]) -> u32 {
    bodies.iter().map(|body| body.schedule.threads()).max().unwrap_or(1)
}

/// A body as a function of its own, whose parameter hides the number of the block.
fn part(number: u32, body: &KernelBody) -> DeviceFunction {
    let [inputs, outputs] = body.parameters(Variable::of);
    let hidden = [(CudaType::Plain("const Block"), Variable::named("blockIdx")), (CudaType::Pointer("u8"), SHARED)];
    let parameters = hidden.into_iter().chain(inputs).chain(outputs).collect();
    DeviceFunction { role: FunctionRole::Part(number), parameters, body: body.steps.clone() }
}

/// The blocks from `first` on are a body's, which some of the threads leave.
fn call_of(
    (function, body): (usize, &KernelBody),
    first: u64,
    threads: u32,
    arguments: impl Iterator<Item = Expression>,
) -> ThreadStep {
    let mut steps = vec![];
    if body.schedule.threads() < threads {
        let leaves = binary(">=", THREAD, number(body.schedule.threads(), "u32"));
        steps.push(ThreadStep::Return.guarded(Some(leaves)));
    }
    let block = Expression::List(Some("Block".into()), vec![BLOCK - number(first, "u32")]);
    steps.push(ThreadStep::Part(function as u32, [block, SHARED.into()].into_iter().chain(arguments).collect()));
    steps.push(ThreadStep::Return);
    ThreadStep::If(binary("<", BLOCK, number(first + body.schedule.blocks(), "u32")), steps, vec![])
}
