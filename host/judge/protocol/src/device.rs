//! Between the supervisor and the child that holds libtorch.
//!
//! The supervisor opens a device, then for each variant sends [`ToDevice::Load`] (the reference program, which the child
//! runs) and, once the rewrite is verified, [`ToDevice::Evaluate`], which checks it. The seed travels with the second: it
//! is drawn after the rewrite is known. Before that, [`ToDevice::Tune`] may choose how its kernels are run. What is right is timed, in this child and in others that loaded the same program,
//! with [`ToDevice::Time`]. [`ToDevice::Run`] runs a program by itself. Each request gets one reply;
//! [`FromDevice::Stage`] messages before it say how far the child is, so that the supervisor can tell where it died.
//! Before a reply the child may also ask for machine code ([`FromDevice::Compile`]), and waits for the answer
//! ([`ToDevice::Compiled`]): it makes none itself, and offers none.

mod draws;
mod elsewhere;
mod error;
mod launch;
mod timed;

pub use draws::Draws;
pub use elsewhere::ElsewhereRun;
pub use error::{ReferenceError, RewriteError};
pub use launch::{NotCaptured, TimedProgram, TimingError};
pub use timed::Timed;

use crate::compiler::Source;
use passhost_ir::{Graph, InputSpec, NodeId, OpName, TensorType};
use passhost_result::{
    Departure, DeviceInfo, DomainFinding, Finding, OtherRounds, OutputReport, Settings, ShownBy, Spent, TunedKernel,
    Walls,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where programs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceChoice {
    /// A GPU if there is a usable one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this index.
    Cuda(u32),
}

/// What the texts of kernels for a GPU depend on, and what they are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuProperties {
    /// Major and minor compute capability.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads that one of them holds at most.
    pub threads_per_multiprocessor: u32,
    /// Bytes of shared memory that one of them has.
    pub shared_bytes_per_multiprocessor: u32,
}

/// Requests to the device child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToDevice {
    /// Chooses the device. The first request.
    Open {
        /// Which.
        device: DeviceChoice,
        /// Threads for CPU work; all cores if absent.
        threads: Option<u32>,
        /// An existing directory for the inputs and outputs of [`ToDevice::Run`]: `input_0.bin`, `output_0.bin` and so
        /// on, row-major and little-endian; and for those of programs that run elsewhere ([`ToDevice::Draw`]). The child
        /// can write nowhere else.
        files: Option<PathBuf>,
        /// Files and directories that the child must not read, whether they are there yet or not.
        hidden: Vec<PathBuf>,
        /// Whether the CPU draws and compares what a GPU would by itself.
        check_on_cpu: bool,
    },
    /// Runs a reference program and keeps it for [`ToDevice::Evaluate`] and [`ToDevice::Time`].
    Load {
        /// The program as the sample has it, typed by inference.
        program: Graph,
        /// One per program input.
        inputs: Vec<InputSpec>,
        /// Seeds this run's inputs only.
        seed: u64,
    },
    /// Checks a verified rewrite against the loaded program.
    Evaluate {
        /// The rewrite.
        rewrite: Graph,
        /// Nodes whose original is an in-place op, with that op: where the operand dies there the executor reuses its
        /// memory, as the reference does.
        in_place: Vec<(NodeId, OpName)>,
        /// Names of the schedules that kernels have in place of their defaults.
        schedules: Vec<(NodeId, String)>,
        /// On what.
        draws: Draws,
        /// How to measure.
        settings: Settings,
    },
    /// Times a verified rewrite against the loaded program.
    Time {
        /// The rewrite.
        rewrite: Graph,
        /// As with [`ToDevice::Evaluate`].
        in_place: Vec<(NodeId, OpName)>,
        /// Likewise: the same ones in all processes.
        schedules: Vec<(NodeId, String)>,
        /// Secret until the rewrite is known.
        seed: u64,
        /// How to measure.
        settings: Settings,
        /// Of each output, the least t at which it was found right.
        right_from: Vec<Option<i8>>,
        /// Cores that nothing else of this evaluation runs on meanwhile; none if there are none to spare.
        cores: Vec<u32>,
    },
    /// Measures the kernels of a verified rewrite of the loaded program in the schedules that they may have.
    Tune {
        /// The rewrite.
        rewrite: Graph,
        /// As with [`ToDevice::Evaluate`].
        in_place: Vec<(NodeId, OpName)>,
        /// Seeds the inputs that it runs on.
        seed: u64,
        /// What is known of kernels from before.
        known: Vec<TunedKernel>,
    },
    /// Looks for the node of a rewrite that makes its outputs wrong: after an evaluation that found them so.
    Trace {
        /// The rewrite.
        rewrite: Graph,
        /// As with [`ToDevice::Evaluate`].
        schedules: Vec<(NodeId, String)>,
        /// Seeds the inputs.
        seed: u64,
        /// How to measure, for the number of rounds and the memory.
        settings: Settings,
        /// On which inputs it was found wrong.
        shown_by: ShownBy,
    },
    /// Runs a reference program once and keeps nothing.
    Run {
        /// The program as the sample has it, typed by inference.
        program: Graph,
        /// One per program input.
        inputs: Vec<InputSpec>,
        /// Seeds the inputs, which are those of the first round of [`ToDevice::Load`] with this seed.
        seed: u64,
    },
    /// Writes the inputs of the loaded program for someone who runs it elsewhere: those of round 0 to `round_0/input_0.bin`,
    /// `round_0/input_1.bin` and so on. The directories of the rounds exist.
    Draw {
        /// Seeds the inputs.
        seed: u64,
        /// How many rounds.
        rounds: u32,
    },
    /// Compares what someone else made of these inputs with the loaded program.
    Judge(ElsewhereRun),
    /// Not a request: the answer to [`FromDevice::Compile`]. Machine code, or why there is none.
    Compiled(Result<Vec<u8>, String>),
}

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Running the reference for the first time.
    Reference,
    /// Compiling kernels and resolving ops.
    Plan,
    /// Measuring kernels in the schedules that they may have.
    Tuning,
    /// Running the rewrite on fresh inputs.
    Correctness,
    /// Timing both programs.
    Timing,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Reference => "reference",
            Stage::Plan => "plan",
            Stage::Tuning => "tuning",
            Stage::Correctness => "correctness",
            Stage::Timing => "timing",
        })
    }
}

/// Replies of the device child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromDevice {
    /// The answer to [`ToDevice::Open`].
    Opened {
        /// What was opened.
        device: DeviceInfo,
        /// What keeps the child in.
        walls: Walls,
        /// What kernels for it are written by, of a GPU.
        gpu: Option<GpuProperties>,
    },
    /// The device cannot be used. The child exits.
    Unusable(String),
    /// Not a reply: the child has reached this stage.
    Stage(Stage),
    /// Not a reply: the child needs machine code, and waits for [`ToDevice::Compiled`].
    Compile(Source),
    /// Not a reply: where the time of the request went that is answered next.
    Spent(Spent),
    /// Not a reply: the device can do no more, and the child exits after its next reply.
    Lost,
    /// The answer to [`ToDevice::Load`].
    Loaded(Result<Loaded, ReferenceError>),
    /// The answer to [`ToDevice::Draw`].
    Drawn(Result<(), RunError>),
    /// The answer to [`ToDevice::Evaluate`] and to [`ToDevice::Judge`].
    Evaluated(Box<Evaluation>),
    /// The answer to [`ToDevice::Tune`]: the kernels that have a choice.
    Tuned(Result<Vec<TunedKernel>, RewriteError>),
    /// The answer to [`ToDevice::Time`].
    Timed(Result<Box<Timed>, TimingError>),
    /// The answer to [`ToDevice::Trace`]; none where no node can be named.
    Traced(Option<Departure>),
    /// The answer to [`ToDevice::Run`].
    Ran(Result<Ran, RunError>),
}

/// What a single run of a reference program gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// One per program output.
    pub outputs: Vec<RanOutput>,
    /// Values of another type than inferred, in the order of their definition: a bug of whoever inferred it.
    pub differences: Vec<TypeDifference>,
    /// Highest number of bytes allocated at once beyond the inputs.
    pub peak_bytes: u64,
    /// Wall clock of the run, in microseconds.
    pub micros: u64,
}

/// An output of a single run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanOutput {
    /// As the run gave it.
    pub ty: TensorType,
    /// Of the elements, row-major and little-endian, in hexadecimal.
    pub sha256: String,
    /// `constant` or `not finite` where that is so: then it tells little.
    pub remark: Option<String>,
}

/// A value whose type the run shows to be another than inferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("types differ at %{value}: inferred {inferred}, found {found}")]
pub struct TypeDifference {
    /// Its name in the program.
    pub value: String,
    /// As inferred.
    pub inferred: TensorType,
    /// As the run gave it.
    pub found: TensorType,
}

/// Why a single run gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RunError {
    /// The program did not run.
    #[error("{0}")]
    Program(#[from] ReferenceError),
    /// A file could not be written. The host's trouble.
    #[error("cannot write `{file}`: {message}")]
    Write {
        /// Which.
        file: String,
        /// What the system said.
        message: String,
    },
}

/// What a run of the reference program showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// The type of every value of the program.
    pub types: Vec<TensorType>,
    /// Highest number of bytes allocated at once beyond the inputs.
    pub peak_bytes: u64,
    /// Its first run, nanoseconds: for deadlines.
    pub first_ns: u64,
}

/// What an evaluation showed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evaluation {
    /// Why there is nothing to compare.
    pub error: Option<RewriteError>,
    /// One per output, empty after an error.
    pub outputs: Vec<OutputReport>,
    /// Findings of the integrity layers.
    pub findings: Vec<Finding>,
    /// What is wrong on unusual inputs. Only AS strict asks.
    pub domain: Vec<DomainFinding>,
    /// What could not be checked, in words: no double precision run, fixed inputs.
    pub notes: Vec<String>,
    /// Whether zeros, a copy of an input or the mean are right at t = -2.
    pub trivial: Option<String>,
    /// Highest number of bytes the rewrite allocated at once.
    pub peak_bytes: u64,
    /// The rounds beside the ordinary ones.
    pub others: OtherRounds,
}

impl Evaluation {
    /// One that has nothing to compare.
    pub fn failed(error: RewriteError) -> Evaluation {
        Evaluation { error: Some(error), ..Evaluation::default() }
    }
}
