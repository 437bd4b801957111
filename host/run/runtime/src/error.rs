//! What goes wrong in a program, and where.

use passhost_ir::NodeId;
use passhost_kernels::BindError;
use passhost_kernels::cuda::{CudaError, DriverError};

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// The driver refused.
    #[error(transparent)]
    Device(#[from] DriverError),
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] Cause),
}

/// Why a kernel did not run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It is no kernel.
    #[error(transparent)]
    Kernel(#[from] passhost_ir::kernel::KernelError),
    /// The tensors are not those that it declares.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A GPU refused it.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The device cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A tensor in the memory of another device.
    #[error("tensor {0} lies in the memory of another device than the kernel runs on")]
    Elsewhere(usize),
    /// Just prepared for these tensors, and refused: a bug.
    #[error("the kernel refuses tensors that it was prepared for; this is a bug of passhost")]
    Refused,
}

/// A node that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("node {node} ({op}): {cause}")]
pub struct NodeError {
    /// Which node.
    pub node: NodeId,
    /// Its op, or `kernel`.
    pub op: String,
    /// Why.
    pub cause: Cause,
}

/// Why a node failed, or an engine refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A result has another type than declared.
    #[error("its result is {found}, declared is {declared}")]
    Type {
        /// The type declared.
        declared: String,
        /// The type found.
        found: String,
    },
    /// The device has no memory left.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// The device faulted while it ran what was launched before.
    #[error("the device faulted: {0}")]
    Fault(String),
    /// Anything else, in the words of whoever refused.
    #[error("{0}")]
    Failed(String),
}

impl From<LaunchError> for Cause {
    fn from(error: LaunchError) -> Cause {
        Cause::Failed(error.to_string())
    }
}
