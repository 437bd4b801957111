//! Execution of kernel IR.
//!
//! [`cpu`] runs a verified [`Kernel`](passhost_ir::Kernel) on the CPU. It is the reference that other devices are tested
//! against, and fast enough to beat PyTorch's eager mode where fusing saves memory traffic.

mod access;
pub mod cpu;
pub mod cuda;

pub use access::{BindError, BoundInput, BoundOutput, KernelLayout};
pub use cpu::facts as cpu_facts;
pub use cpu::{CallingThread, CpuKernel, NewThreads, PreparedRun, ThreadPool};
