//! Kernels on NVIDIA GPUs: kernel IR to CUDA C++, to machine code by NVRTC, to launches by the driver.
//!
//! The text is written for a *layout*, the strides and alignments of the inputs, so that addresses are made of constants
//! and wide accesses are used where they are allowed. A layout is taken from the tensors that are bound, and checked
//! against the kernel's declarations first: what a kernel may read never depends on what its author said of it.
//!
//! Everything is loaded when it is first needed. Where there is no GPU, kernels can still be compiled; where there is no
//! NVRTC, an error says which file was looked for.

mod accesses;
mod candidates;
mod chooser;
mod claims;
mod column;
mod compiler;
mod contraction;
mod device;
mod emit;
mod event;
mod facts;
mod gate;
mod graph;
mod join;
mod kernel;
pub mod loops;
mod name;
mod nvrtc;
mod order;
mod passes;
mod print;
mod products;
mod properties;
mod recording;
mod scans;
mod schedule;
mod source;
mod space;
mod split;
mod tiles;
mod tune;
mod types;
mod windows;

pub use candidates::MOST_CANDIDATES;
pub use claims::{Claim, ClaimAccess, Claims, Term};
pub use compiler::Compiler;
pub use device::{DriverError, Entered, Gpu, Stream};
pub use emit::{KernelSource, candidates, emit, emit_as, emit_joined};
pub use event::StreamEvent;
pub use gate::{Gate, ShutGate};
pub use graph::LaunchGraph;
pub use kernel::{Candidates, CudaError, CudaKernel, PreparedLaunch};
pub use nvrtc::{Cubin, Nvrtc, NvrtcError};
pub use properties::DeviceProperties;
pub use recording::{RecordedLaunches, Recording};
pub use schedule::FORMS;
pub use source::{LaunchShape, shape, sources};
