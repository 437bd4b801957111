//! What goes wrong in a program, and where.

use crate::context::ContextError;
use crate::kernel::KernelError;
use passhost_ir::NodeId;
use passhost_torch::{OpError, TensorError};

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

/// Why a node failed.
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

impl From<OpError> for Cause {
    fn from(error: OpError) -> Cause {
        match error {
            OpError::OutOfMemory(message) => Cause::OutOfMemory(message),
            other => Cause::Failed(other.to_string()),
        }
    }
}

impl From<TensorError> for Cause {
    fn from(error: TensorError) -> Cause {
        match error {
            TensorError::OutOfMemory(message) => Cause::OutOfMemory(message),
            other => Cause::Failed(other.to_string()),
        }
    }
}

impl From<KernelError> for Cause {
    fn from(error: KernelError) -> Cause {
        Cause::Failed(error.to_string())
    }
}

impl From<ContextError> for Cause {
    fn from(error: ContextError) -> Cause {
        Cause::Failed(error.to_string())
    }
}
