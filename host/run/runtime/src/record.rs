//! A program as one launch, whatever it calls: recorded from its stream, for inputs that stay where they are. Ops of
//! a library launch what they like and take memory where they like, so that it can only be recorded as it runs.

use crate::context::OnGpu;
use crate::engine::{Engine, EngineTensor};
use crate::error::{Cause, ContextError, NodeError};
use crate::program::Program;
use passhost_ir::NodeId;
use passhost_kernels::cuda::{DriverError, RecordedLaunches, Recording};

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
    /// The engine gives no memory that stays.
    #[error("no memory is kept for captured launches: {0}")]
    Memory(Cause),
    /// The device cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
}

/// A program that reads its inputs where they were when it was recorded, and writes its outputs where it wrote them then:
/// a launch of it is one of a CUDA graph.
pub struct Recorded<'p, E: Engine> {
    // In the order in which they must go: what is launched before the memory that it uses.
    launches: RecordedLaunches,
    outputs: Vec<E::Tensor>,
    /// What else the launches use: inputs, temporaries and constants.
    _used: Vec<E::Tensor>,
    _pool: E::CapturePool,
    program: &'p Program<E>,
}

impl<E: Engine> Program<E> {
    /// Runs a few times on these inputs, or on copies of those that it overwrites, and then once more while everything is
    /// noted down in place of being run. The outputs hold nothing before the first [`Recorded::launch`].
    pub fn record(&self, inputs: &[E::Tensor]) -> Result<Recorded<'_, E>, RecordError> {
        if self.context().gpu.is_none() {
            return Err(RecordError::Cpu);
        }
        for _ in 0..RUNS_BEFORE {
            self.run(&self.with_copies_to_overwrite(inputs).map_err(RecordError::Memory)?)?;
        }
        self.finish()?;
        let record = |(on, entered): &OnGpu<'_>| -> Result<_, RecordError> {
            let recording = Recording::begin(entered, on.stream).map_err(ContextError::from)?;
            let ran = self.run(inputs);
            let launches = recording.end(&on.gpu);
            // What the op said comes first: where it failed, so did the recording.
            let outputs = ran.map_err(not_recorded)?;
            // No op failed, and the recording is of no use all the same.
            let ended_badly = |error: DriverError| RecordError::Op {
                node: self.last,
                op: "or a node before".into(),
                message: error.to_string(),
            };
            Ok((outputs, launches.map_err(ended_badly)?))
        };
        let captured = self.context().engine().captured(|| self.context().entered_on_gpu(record));
        let (recorded, pool) = captured.map_err(RecordError::Memory)?;
        let (outputs, launches) = recorded?.ok_or(RecordError::Cpu)?;
        let used = inputs.iter().cloned().chain(self.lasting_tensors()).collect();
        Ok(Recorded { launches, outputs, _used: used, _pool: pool, program: self })
    }

    fn with_copies_to_overwrite(&self, inputs: &[E::Tensor]) -> Result<Vec<E::Tensor>, Cause> {
        let own = |(position, tensor): (usize, &E::Tensor)| match self.mutated_inputs.contains(&position) {
            true => tensor.copy(),
            false => Ok(tensor.clone()),
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

impl<E: Engine> Recorded<'_, E> {
    /// The outputs: each launch writes them anew.
    pub fn outputs(&self) -> &[E::Tensor] {
        &self.outputs
    }

    /// Runs once, on what the inputs hold when the stream gets there.
    pub fn launch(&self) -> Result<(), NodeError> {
        let launch = |(on, entered): &OnGpu<'_>| {
            // SAFETY: `self` holds the memory, the program the machine code of its kernels, and the stream puts what is done
            // with either of them into an order.
            unsafe { self.launches.launch(entered, on.stream) }.map_err(ContextError::from)
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
