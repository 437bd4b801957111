//! Between the supervisor and the child that knows the types of what ops return.
//!
//! The child holds libtorch and opens no GPU. Each question gets one answer.

use passhost_ir::{Arg, InferError, OpName, TensorType};
use serde::{Deserialize, Serialize};

/// The types of the results of an op, a returned list flattened, or why they are not known.
pub type Answer = Result<Vec<TensorType>, InferError>;

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The op.
    pub op: OpName,
    /// Arguments in schema order, with defaults filled.
    pub args: Vec<Arg<TensorType>>,
}

/// The argument of the device program that makes it answer questions about types.
pub const ROLE: &str = "types";
