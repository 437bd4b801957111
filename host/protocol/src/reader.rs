//! Between the supervisor and the child that reads one sample.
//!
//! The child is started with the path of a sample. It opens it and says what it found with [`FromReader::Opened`]. Then
//! each [`ToReader::Read`] gets one reply, with [`FromReader::Infer`] questions before it, each of which is answered by
//! [`ToReader::Typed`].

mod error;

pub use error::{SampleError, SourceLocation};

use crate::types::Answer;
use passhost_ir::{Arg, Graph, InputSpec, OpName, TensorType};
use serde::{Deserialize, Serialize};

/// How inputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum InputMode {
    /// Around the recorded statistics, and never constant: a pass must not get away with assuming a zero bias.
    #[default]
    Fresh,
    /// As the published loaders draw them, constants included.
    Published,
}

/// A variant as an evaluation needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The reference program, in-place ops as written, typed by inference.
    pub program: Graph,
    /// One per program input.
    pub inputs: Vec<InputSpec>,
    /// Remarks: inputs that are the same in every draw.
    pub notes: Vec<String>,
}

/// What is known of a sample once its files are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The last part of its path.
    pub name: String,
    /// Of the names and contents of all model and weight files, in hexadecimal.
    pub sha256: String,
    /// Paths of its graphs within it, in its order.
    pub variants: Vec<String>,
}

/// Requests to the reader child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToReader {
    /// Reads a variant.
    Read {
        /// Position of the variant.
        index: u32,
        /// How its inputs will be drawn.
        inputs: InputMode,
    },
    /// Answers [`FromReader::Infer`].
    Typed(Answer),
}

/// Replies of the reader child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromReader {
    /// The first message. After an error the child exits.
    Opened(Result<Opened, SampleError>),
    /// A question of the running translation.
    Infer {
        /// The op.
        op: OpName,
        /// Arguments in schema order.
        args: Vec<Arg<TensorType>>,
    },
    /// The answer to [`ToReader::Read`].
    Read(Result<Variant, SampleError>),
}
