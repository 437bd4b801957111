//! The text around the bodies of kernels: one kernel as a function to launch, or several as one.
//!
//! Kernels that read and write nothing of each other's can be one launch: its first blocks are those of the first kernel,
//! the next ones those of the second. Each body is the text that it is alone, in a function of its own whose parameter
//! hides `blockIdx`, so that it computes what it computes alone, bit by bit. Blocks are as large as the largest body wants
//! them, and threads that a body has no use for leave before it begins: they are whole warps, and a barrier waits for
//! threads that are there. Shared memory is that of the body that wants the most.

use super::claims::Claims;
use super::loops::{
    BLOCK, DeviceFunction, Expression, FunctionRole, MemorySpace, SHARED, THREAD, ThreadStep, Variable, binary, call,
    number,
};
use super::print::source;
use super::properties::{DeviceProperties, STATIC_SHARED};
use super::schedule::Schedule;
use super::split::RowSplit;

/// Bodies that are named of those of one launch.
const MOST_NAMED: usize = 3;

/// A kernel, with what a launch of it takes.
#[derive(Debug)]
pub(super) struct KernelBody {
    /// What it does, in words.
    pub(super) operations: String,
    /// What it computes.
    pub(super) function: DeviceFunction,
    /// Bytes of a block's memory `shared`.
    pub(super) shared_bytes: u64,
    /// Blocks share rows only in a launch of its own.
    pub(super) schedule: Schedule,
    /// One of [`FORMS`](super::FORMS).
    pub(super) form: &'static str,
    /// What the function takes for granted.
    pub(super) claims: Vec<Claims>,
}

/// The text of kernels. The parameters are the inputs of all of them, then all outputs.
pub(super) fn joined(bodies: &[KernelBody], name: &str, device: &DeviceProperties) -> String {
    let (mut functions, mut inputs, mut outputs, mut steps) = (vec![], vec![], vec![], vec![]);
    let (threads, mut first, is_alone) = (threads(bodies), 0, bodies.len() == 1);
    for (position, KernelBody { function, schedule, .. }) in bodies.iter().enumerate() {
        let renamed = |of: Variable| Variable { number: Some(position as u32), copy: of.number, ..of };
        let own = |(ty, of): &(&'static str, Variable)| (*ty, if is_alone { *of } else { renamed(*of) });
        let own_inputs: Vec<_> = function.inputs.iter().map(own).collect();
        let own_outputs: Vec<_> = function.outputs.iter().map(own).collect();
        if is_alone {
            steps.clone_from(&function.body);
        } else if schedule.blocks() > 0 {
            // Bodies that are alike share a function.
            let is_same = |before: &KernelBody| before.schedule.blocks() > 0 && before.function == *function;
            let part = bodies[..position].iter().position(is_same).unwrap_or(position) as u32;
            if part == position as u32 {
                functions.push(DeviceFunction { role: FunctionRole::Part(part), ..function.clone() });
            }
            let arguments = own_inputs.iter().chain(&own_outputs).map(|(_, name)| (*name).into());
            steps.push(call_of(part, schedule, (first, threads), arguments));
            first += schedule.blocks();
        }
        inputs.extend(own_inputs);
        outputs.extend(own_outputs);
    }
    let shared = match asked_bytes(bodies) {
        0 => (MemorySpace::SharedAligned, vec![shared_bytes(bodies).max(1)]),
        _ => (MemorySpace::Asked, vec![]),
    };
    let mut body =
        vec![ThreadStep::Declare(shared.0, "u8".into(), SHARED, shared.1, None), ThreadStep::Call(call("begin", []))];
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
    functions.push(DeviceFunction {
        role: FunctionRole::Entry { name: name.into(), threads, cluster },
        inputs,
        outputs,
        body,
    });
    source(&functions)
}

/// What a profiler shows: `passhost_` and what the bodies do. Nothing of a pass is in it.
pub(super) fn name(bodies: &[KernelBody]) -> String {
    let mut words: Vec<&str> = bodies.iter().map(|body| &*body.operations).collect();
    words.dedup();
    let rest = words.split_off(words.len().min(MOST_NAMED));
    let more = if rest.is_empty() { String::new() } else { format!("__{}_more", rest.len()) };
    format!("passhost_{}{more}", words.join("__"))
}

/// Blocks of a grid of all bodies.
pub(super) fn blocks(bodies: &[KernelBody]) -> u64 {
    bodies.iter().map(|body| body.schedule.blocks()).sum()
}

/// Threads of a block that has room for each body.
pub(super) fn threads(bodies: &[KernelBody]) -> u32 {
    bodies.iter().map(|body| body.schedule.threads()).max().unwrap_or(1)
}

/// Bytes of a block's memory.
fn shared_bytes(bodies: &[KernelBody]) -> u64 {
    bodies.iter().map(|body| body.shared_bytes).max().unwrap_or(0)
}

/// Bytes that a launch asks for: all, where there are more than a text may declare.
pub(super) fn asked_bytes(bodies: &[KernelBody]) -> u32 {
    u32::try_from(shared_bytes(bodies)).ok().filter(|bytes| u64::from(*bytes) > STATIC_SHARED).unwrap_or(0)
}

/// The blocks from `first` on are a body's, which some of the threads leave.
fn call_of(
    part: u32,
    schedule: &Schedule,
    (first, threads): (u64, u32),
    arguments: impl Iterator<Item = Expression>,
) -> ThreadStep {
    let mut steps = vec![];
    if schedule.threads() < threads {
        let leaves = binary(">=", THREAD, number(schedule.threads(), "u32"));
        steps.push(ThreadStep::Return.guarded(Some(leaves)));
    }
    let block = Expression::List(Some("Block".into()), vec![BLOCK - number(first, "u32")]);
    steps.push(ThreadStep::Part(part, [block, SHARED.into()].into_iter().chain(arguments).collect()));
    steps.push(ThreadStep::Return);
    ThreadStep::If(binary("<", BLOCK, number(first + schedule.blocks(), "u32")), steps, vec![])
}
