//! Between the supervisor and the child that holds libtorch.
//!
//! The supervisor opens a device, then for each variant sends [`ToDevice::Load`] (the reference program, which the child
//! runs) and, once the rewrite is verified, [`ToDevice::Rewrite`] with what is to be done: [`RewriteTask::Evaluate`]
//! checks it. The seed travels with it: it is drawn after the rewrite is known. Before that, [`RewriteTask::Tune`] may
//! choose how its kernels are run. What is right is timed, in this child and in others that loaded the same program, with
//! [`RewriteTask::Time`]. [`ToDevice::Run`] runs a program by itself. Each request gets one reply;
//! [`FromDevice::Stage`] messages before it say how far the child is, so that the supervisor can tell where it died.
//! Before a reply the child may also ask for machine code ([`FromDevice::Compile`]), and waits for the answer
//! ([`ToDevice::Compiled`]): it makes none itself, and offers none.

mod error;
mod rewrite;

pub use error::{NotCaptured, ReferenceError, RewriteError, TimedProgram, TimingError};
pub use rewrite::{Draws, ExternalRun, MutantRounds, ProcessTiming, RewriteJob, RewriteTask};

use crate::compiler::CompilerSource;
use passhost_ir::{Graph, InputSpec, TensorType};
use passhost_result::{
    DeviceInfo, DivergentNode, EdgeCaseFinding, Finding, Launch, OtherRounds, OutputReport, SandboxProfile, Spent,
    TunedKernel,
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
        /// How rewrites are launched where they are timed: a pass is told what that costs.
        launch: Launch,
        /// An existing directory for the inputs and outputs of [`ToDevice::Run`]: `input_0.bin`, `output_0.bin` and so
        /// on, row-major and little-endian; and for those of programs that run elsewhere ([`ToDevice::Draw`]). The child
        /// can write nowhere else.
        files: Option<PathBuf>,
        /// Files and directories that the child must not read, whether they are there yet or not.
        hidden: Vec<PathBuf>,
        /// Whether the CPU draws and compares what a GPU would by itself.
        check_on_cpu: bool,
    },
    /// Runs a reference program and keeps it for [`RewriteTask::Evaluate`] and [`RewriteTask::Time`].
    Load {
        /// The program as the sample has it, typed by inference.
        program: Graph,
        /// One per program input.
        inputs: Vec<InputSpec>,
        /// Seeds this run's inputs only.
        seed: u64,
    },
    /// Does something with a verified rewrite of the loaded program.
    Rewrite(RewriteTask, Box<RewriteJob>),
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
    Judge(ExternalRun),
    /// Not a request: the answer to [`FromDevice::Compile`]. Machine code, or why there is none.
    Compiled(Result<Vec<u8>, String>),
}

/// How far an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DeviceStage {
    /// Running the reference for the first time.
    #[error("reference")]
    Reference,
    /// Compiling kernels and resolving ops.
    #[error("plan")]
    Plan,
    /// Measuring kernels in the schedules that they may have.
    #[error("tuning")]
    Tuning,
    /// Running the rewrite on fresh inputs.
    #[error("correctness")]
    Correctness,
    /// Timing both programs.
    #[error("timing")]
    Timing,
}

/// Replies of the device child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromDevice {
    /// The answer to [`ToDevice::Open`].
    Opened {
        /// What was opened.
        device: DeviceInfo,
        /// What keeps the child in.
        profile: SandboxProfile,
        /// What kernels for it are written by, of a GPU.
        gpu: Option<GpuProperties>,
    },
    /// The device cannot be used. The child exits.
    Unusable(String),
    /// Not a reply: the child has reached this stage.
    Stage(DeviceStage),
    /// Not a reply: the child needs machine code, and waits for [`ToDevice::Compiled`].
    Compile(CompilerSource),
    /// Not a reply: where the time of the request went that is answered next.
    Spent(Spent),
    /// Not a reply: the device can do no more, and the child exits after its next reply.
    Lost,
    /// The answer to [`ToDevice::Load`].
    Loaded(Result<LoadReport, ReferenceError>),
    /// The answer to [`ToDevice::Draw`].
    Drawn(Result<(), SingleRunError>),
    /// The answer to [`RewriteTask::Evaluate`] and to [`ToDevice::Judge`].
    Evaluated(Box<EvaluationReport>),
    /// The answer to [`RewriteTask::Tune`]: the kernels that have a choice.
    Tuned(Result<Vec<TunedKernel>, RewriteError>),
    /// The answer to [`RewriteTask::Time`].
    Timed(Result<Box<ProcessTiming>, TimingError>),
    /// The answer to [`RewriteTask::Trace`]; none where no node can be named.
    Traced(Option<DivergentNode>),
    /// The answer to [`ToDevice::Run`].
    Ran(Result<SingleRun, SingleRunError>),
}

/// What a single run of a reference program gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SingleRun {
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
pub enum SingleRunError {
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
pub struct LoadReport {
    /// The type of every value of the program.
    pub types: Vec<TensorType>,
    /// Highest number of bytes allocated at once beyond the inputs.
    pub peak_bytes: u64,
    /// Its first run, nanoseconds: for deadlines.
    pub first_ns: u64,
}

/// What an evaluation showed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Why there is nothing to compare.
    pub error: Option<RewriteError>,
    /// One per output, empty after an error.
    pub outputs: Vec<OutputReport>,
    /// Findings of the integrity layers.
    pub findings: Vec<Finding>,
    /// What is wrong on unusual inputs. Only AS strict asks.
    pub edge_cases: Vec<EdgeCaseFinding>,
    /// What could not be checked, in words: no double precision run, fixed inputs.
    pub notes: Vec<String>,
    /// Whether zeros, a copy of an input or the mean are right at t = -2.
    pub trivial: Option<String>,
    /// Highest number of bytes the rewrite allocated at once.
    pub peak_bytes: u64,
    /// The rounds beside the ordinary ones.
    pub others: OtherRounds,
}

impl EvaluationReport {
    /// One that has nothing to compare.
    pub fn failed(error: RewriteError) -> EvaluationReport {
        EvaluationReport { error: Some(error), ..EvaluationReport::default() }
    }
}
