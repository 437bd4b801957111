//! libtorch, as far as a host of graphs needs it: any ATen op by name, result types without running, tensors as bytes on
//! the CPU or a GPU, and an allocator that can poison and guard. A [`Target`] is an engine of `passhost_runtime`.
//!
//! Nothing here assumes that the process is ours. Every call leaves the calling thread's grad mode, inference mode,
//! device and stream as they were; what is set for a whole process is in [`process`], for a program's `main`.
//!
//! Nothing here decides what may be called: the op lists of `passhost_ir` do, and the verifier applies them.

pub mod allocator;
mod bridge;
mod call;
mod engine;
mod error;
mod infer;
pub mod process;
mod target;
mod tensor;
mod threads;

pub use bridge::ffi::{gpu_settings, gradients_enabled, inference_enabled, thread_count, version};
pub use call::PreparedCall;
pub use engine::{Context, Program};
pub use error::TorchError;
pub use infer::MetaInfer;
pub use target::{Scope, Target};
pub use tensor::{OutOfMemory, Tensor};
pub use threads::run_on_threads;
