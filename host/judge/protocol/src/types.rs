//! Between the supervisor and the child that knows the types of what ops return.
//!
//! The child holds libtorch and opens no GPU. It says how it is confined; then each question gets one answer. It
//! also writes the texts of kernels for a GPU, so that they are compiled before anybody waits for them.

use crate::device::GpuProperties;
use passhost_ir::{Arg, Graph, InferError, OpName, TensorType};
use passhost_result::SandboxProfile;
use serde::{Deserialize, Serialize};

/// The types of the results of an op, a returned list flattened, or why they are not known.
pub type TypesAnswer = Result<Vec<TensorType>, InferError>;

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypesQuestion {
    /// The op.
    pub op: OpName,
    /// Arguments in schema order, with defaults filled.
    pub args: Vec<Arg<TensorType>>,
}

/// What is asked of the child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToTypes {
    /// The types of what an op returns.
    Question(TypesQuestion),
    /// The texts that the kernels of a verified rewrite will be compiled from.
    Sources {
        /// The rewrite.
        rewrite: Box<Graph>,
        /// The GPU that is to run it.
        gpu: GpuProperties,
        /// Whether in every schedule that they may have, not in their defaults alone.
        all: bool,
    },
}

/// Messages of the child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromTypes {
    /// The first message, once libtorch is loaded: what keeps the child in.
    Ready(SandboxProfile),
    /// The answer to a question.
    Typed(TypesAnswer),
    /// The texts that were asked for, without those that cannot be told.
    Sources(Vec<String>),
}

/// The argument of the device program that makes it answer questions about types.
pub const ROLE: &str = "types";
