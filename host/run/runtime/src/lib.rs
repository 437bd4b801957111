//! Runs verified graphs on a device: the CPU, or a stream of a GPU.
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
