//! Asking for the types that an op returns, without running it.

use crate::{Arg, OpName, TensorType, namespace};

/// Why the result types of an op are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum InferError {
    /// The op is on no list.
    #[error("`{}` is not an op that may be used here; {}", .0, remedy(.0))]
    NotAllowed(String),
    /// The op has neither a meta kernel nor an entry in the host's table.
    #[error("the result type of `{0}` cannot be inferred; use an op with a meta kernel, or a kernel node")]
    Unknown(String),
    /// The op refused these operands.
    #[error("`{op}` refuses these operands: {message}")]
    Refused {
        /// The op.
        op: String,
        /// What it said.
        message: String,
    },
    /// Whoever answers is out of reach, or the budget of questions is spent.
    #[error("no types to be had: {0}")]
    Unavailable(String),
}

/// Knows the types of what an op returns. The device child does, and whoever can ask it.
pub trait Infer {
    /// The types of the results of `op`, a returned list flattened. `args` stand in schema order with defaults filled.
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError>;

    /// Whether a pass that asks may insert calls of `op`.
    fn may_insert(&mut self, _op: &OpName) -> bool {
        false
    }
}

/// What to use in the place of an op.
fn remedy(op: &str) -> &'static str {
    if namespace::is_in(op) { "use one of `passhost ops`, or a kernel" } else { namespace::HINT }
}
