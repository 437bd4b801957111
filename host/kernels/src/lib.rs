//! Execution of kernel IR.
//!
//! [`cpu`] runs a verified [`Kernel`](passhost_ir::Kernel) on the CPU. It is the reference that other devices are tested
//! against, and fast enough to beat PyTorch's eager mode where fusing saves memory traffic.

pub mod cpu;
pub mod cuda;

pub use cpu::{BindError, Bound, BoundInput, BoundOutput, CallingThread, CpuKernel, NewThreads, Threads};
