//! Runs verified graphs on a device: the CPU, or a stream of a GPU.
//!
//! # A graph that runs
//!
//! This one has kernels alone, so that it needs no library: the engine is [`Plain`], with memory of the host and threads.
//! `passhost_torch::Target` in its place brings the ops of ATen, and GPUs.
//!
//! ```
//! use passhost_ir::{Dtype, Graph, TensorType};
//! use passhost_runtime::{Context, Hints, Mode, Plain, PlainTensor, Program};
//! use std::sync::Arc;
//!
//! let graph = Graph::parse(
//!     "graph(%x: f32[2,3]) {
//!        %squares: f32[2,3] = kernel(%x) {
//!          space p0=2, p1=3 in x0: f32[2,3] i0 = p0 i1 = p1
//!          v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = mul v0, v0 out v1 over [p0, p1] as [2,3]
//!        }
//!        %sums: f32[2] = kernel(%squares) {
//!          space p0=2; reduce r0=3 in x0: f32[2,3] i0 = p0 i1 = r0
//!          v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = reduce sum v0 out v1 over [p0] as [2]
//!        }
//!        return (%sums)
//!      }",
//! )?;
//!
//! // On two threads at most. Compiling does once what need not be done for each run.
//! let context = Arc::new(Context::cpu(Plain(2)));
//! let program = Program::compile(&graph, Mode::Declared, &Hints::default(), &context)?;
//!
//! let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
//! for (x, sums) in [([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [14.0, 77.0]), ([0.0, 0.0, 2.0, 1.0, 1.0, 1.0], [4.0, 3.0])] {
//!     let x = PlainTensor::from_bytes(&TensorType::contiguous(Dtype::F32, [2, 3]), &bytes(&x))?;
//!     let outputs = program.run(&[x])?;
//!     assert_eq!(outputs[0].to_bytes(), bytes(&sums));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! An [`Engine`] is a library in one place, with memory, tensors, ops and threads: `passhost_torch::Target`, or [`Plain`],
//! which runs programs of kernels on the CPU. A [`Context`] is an engine with the driver's stream: there is one per device
//! and stream, as many in a process as it likes. A [`Program`] is a graph made ready on it, to be run many times; a
//! [`DeviceKernel`] is a single kernel. A [`Recorded`] program is one launch.
//!
//! Nothing here assumes that the process is ours. There is no state but that of the values above, and every call leaves
//! the calling thread as it was: grad mode, inference mode, autocast, current device, stream and driver context, errors
//! and panics included. What is looked for in the surroundings, such as NVRTC or somebody else who makes machine code, is
//! the caller's to pass in.

mod alias;
mod arena;
mod compile;
mod context;
mod engine;
mod error;
mod instruction;
mod kernel;
mod mark;
mod order;
mod plain;
mod program;
mod record;
mod watch;
mod worth;
mod write_back;

pub use compile::{Hints, KERNEL, Mode, sources};
pub use context::{Active, Context};
pub use engine::{Engine, EngineTensor};
pub use error::{Cause, ContextError, LaunchError, NodeError};
pub use kernel::{DeviceKernel, KernelTimes};
pub use passhost_kernels::cpu_facts;
pub use passhost_kernels::cuda::{Candidates, Compiler, Cubin, DeviceProperties, Gate, Gpu, NvrtcError, ShutGate};
pub use plain::{Plain, PlainTensor};
pub use program::Program;
pub use record::{RecordError, Recorded};
pub use watch::{GUARD, Temporary, Watch};
