//! Between the supervisor and the child that knows the types of what ops return.
//!
//! The child holds libtorch and opens no GPU. It says which walls stand around it; then each question gets one answer.

use crate::Walls;
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

/// Messages of the child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromTypes {
    /// The first message, once libtorch is loaded: what keeps the child in.
    Ready(Walls),
    /// The answer to a question.
    Typed(Answer),
}

/// The argument of the device program that makes it answer questions about types.
pub const ROLE: &str = "types";
