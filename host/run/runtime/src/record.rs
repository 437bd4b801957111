//! A program as one launch, whatever it calls: recorded from its stream, for inputs that stay where they are. Ops of
//! libtorch launch what they like and take memory where they like, so that it can only be recorded as it runs.

use crate::context::{ContextError, LaunchingOnGpu};
use crate::error::{Cause, NodeError};
use crate::program::Program;
use passhost_ir::NodeId;
use passhost_kernels::cuda::{DriverError, RecordedLaunches, Recording};
use passhost_torch::{CapturePool, OpError, Tensor};

/// Runs before a recording: the first makes ready what only a run does, such as kernels, constants and the memory that
/// libraries work in, and the others find it ready.
const RUNS_BEFORE: usize = 3;

/// Why a program was not recorded. The stream is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The CPU has no such thing.
    #[error("a program on the CPU cannot be captured; it needs a GPU")]
    Cpu,
    /// An op that asks for what cannot be recorded, such as an answer of the device.
    #[error("node {node} ({op}) cannot be captured: {message}")]
    Op {
        /// Which node.
        node: NodeId,
        /// Its op.
        op: String,
        /// What was said.
        message: String,
    },
    /// It fails, captured or not.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// libtorch gives no memory that stays.
    #[error("libtorch keeps no memory for captured launches: {0}")]
    Memory(OpError),
    /// The device cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The GPU refused.
    #[error(transparent)]
    Device(#[from] DriverError),
}

/// A program that reads its inputs where they were when it was recorded, and writes its outputs where it wrote them then:
/// a launch of it is one of a CUDA graph.
pub struct Recorded<'p> {
    // In the order in which they must go: what is launched before the memory that it uses.
    launches: RecordedLaunches,
    outputs: Vec<Tensor>,
    /// What else the launches use: inputs, temporaries and constants.
    _used: Vec<Tensor>,
    _pool: CapturePool,
    program: &'p Program,
}

impl Program {
    /// Runs a few times on these inputs, or on copies of those that it overwrites, and then once more while everything is
    /// noted down in place of being run. The outputs hold nothing before the first [`Recorded::launch`].
    pub fn record(&self, inputs: &[Tensor]) -> Result<Recorded<'_>, RecordError> {
        let Some(gpu) = self.context().on_gpu() else { return Err(RecordError::Cpu) };
        for _ in 0..RUNS_BEFORE {
            self.run(&self.with_copies_to_overwrite(inputs))?;
        }
        self.finish()?;
        let mut pool = CapturePool::open(self.context().target()).map_err(RecordError::Memory)?;
        let recorded = self.context().entered(|launching| {
            let Some(on) = &launching.on_gpu else { return Err(RecordError::Cpu) };
            let recording = Recording::begin(on.entered, on.stream)?;
            let ran = self.run(inputs);
            let launches = recording.end(gpu);
            // What the op said comes first: where it failed, so did the recording.
            let outputs = ran.map_err(not_recorded)?;
            // No op failed, and the recording is of no use all the same.
            let ended_badly = |error: DriverError| RecordError::Op {
                node: self.last,
                op: "or a node before".into(),
                message: error.to_string(),
            };
            Ok((outputs, launches.map_err(ended_badly)?))
        });
        let closed = pool.close();
        let (outputs, launches) = recorded??;
        closed.map_err(RecordError::Memory)?;
        let used = inputs.iter().map(Tensor::shallow_clone).chain(self.lasting_tensors()).collect();
        Ok(Recorded { launches, outputs, _used: used, _pool: pool, program: self })
    }

    fn with_copies_to_overwrite(&self, inputs: &[Tensor]) -> Vec<Tensor> {
        let own = |(position, tensor): (usize, &Tensor)| match self.mutated_inputs.contains(&position) {
            true => tensor.deep_clone(),
            false => tensor.shallow_clone(),
        };
        inputs.iter().enumerate().map(own).collect()
    }
}

/// An op that runs and cannot be recorded, unless it is memory that is missing, or a kernel of ours that failed.
fn not_recorded(error: NodeError) -> RecordError {
    match error.cause {
        Cause::Failed(message) if error.op != crate::compile::KERNEL => {
            RecordError::Op { node: error.node, op: error.op, message }
        }
        _ => RecordError::Node(error),
    }
}

impl Recorded<'_> {
    /// The outputs: each launch writes them anew.
    pub fn outputs(&self) -> &[Tensor] {
        &self.outputs
    }

    /// Runs once, on what the inputs hold when the stream gets there.
    pub fn launch(&self) -> Result<(), NodeError> {
        let launch = |on: &LaunchingOnGpu<'_>| {
            // SAFETY: `self` holds the memory, the program the machine code of its kernels, and the stream puts what is done
            // with either of them into an order.
            unsafe { self.launches.launch(on.entered, on.stream) }.map_err(ContextError::from)
        };
        let launched = self.program.context().entered_on_gpu(launch);
        launched.map(|_| ()).map_err(|error| self.program.faulted(&error))
    }

    /// As [`Recorded::launch`], and waits for the device.
    pub fn launch_timed(&self) -> Result<(), NodeError> {
        self.launch()?;
        self.program.finish()
    }
}
