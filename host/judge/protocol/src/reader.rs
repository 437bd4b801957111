//! Between the supervisor and the child that reads one sample.
//!
//! The child is started with the path of a sample. It says how it is confined with [`FromReader::Ready`]; on
//! [`ToReader::Open`] it opens the sample and says what it found with [`FromReader::Opened`]. Then each
//! [`ToReader::Ask`] gets one reply, with [`FromReader::Infer`] questions before it, each of which is answered by
//! [`ToReader::Typed`].

mod error;

pub use error::{SampleError, SourceLocation};

use crate::types::TypesAnswer;
use passhost_ir::{Arg, Dtype, Graph, InputSpec, OpName, TensorType};
use passhost_result::{InputMode, SandboxProfile, Symbols};
use serde::{Deserialize, Serialize};

/// A variant as an evaluation needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleVariant {
    /// The reference program, in-place ops as written, typed by inference.
    pub program: Graph,
    /// One per program input.
    pub inputs: Vec<InputSpec>,
    /// Remarks: inputs that are the same in every draw.
    pub notes: Vec<String>,
}

/// What is known of a sample once its files are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedSample {
    /// The last part of its path.
    pub name: String,
    /// Of the names and contents of all model and weight files, in hexadecimal.
    pub sha256: String,
    /// Paths of its graphs within it, in its order.
    pub variants: Vec<String>,
}

/// What a variant has otherwise than the graph that it is made from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VariantChange {
    /// Symbols with their new values.
    pub symbols: Symbols,
    /// What float32 inputs become, `None` to leave them.
    pub dtype: Option<Dtype>,
}

/// The largest extent that a symbol may stand for.
pub const LARGEST_EXTENT: i64 = 1 << 40;

/// What can be asked about a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReaderQuestion {
    /// What an evaluation needs, with inputs that are drawn in this way. Answered by [`FromReader::Variant`].
    Variant(InputMode),
    /// All that was read. Answered by [`FromReader::Whole`].
    Reading,
    /// All that was read, after this change. Answered by [`FromReader::Whole`].
    Varied(VariantChange),
    /// The symbols of every variant of the sample, whichever was named. Answered by [`FromReader::Symbols`].
    Symbols,
    /// What an evaluation needs, after this change. Answered by [`FromReader::Changed`].
    Changed(VariantChange, InputMode),
}

/// Requests to the reader child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToReader {
    /// Opens the sample. The first request.
    Open,
    /// Asks about a variant.
    Ask {
        /// Position of the variant.
        index: u32,
        /// What is asked.
        question: ReaderQuestion,
    },
    /// Answers [`FromReader::Infer`].
    Typed(TypesAnswer),
}

/// Replies of the reader child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromReader {
    /// The first message: what keeps the child in, before it has opened anything.
    Ready(SandboxProfile),
    /// The answer to [`ToReader::Open`]. After an error the child exits.
    Opened(Result<OpenedSample, SampleError>),
    /// A question of the running translation.
    Infer {
        /// The op.
        op: OpName,
        /// Arguments in schema order.
        args: Vec<Arg<TensorType>>,
    },
    /// The answer to [`ReaderQuestion::Variant`].
    Variant(Result<SampleVariant, SampleError>),
    /// The answer to [`ReaderQuestion::Symbols`]: each with the extent that it stands for. Of a variant that names none, the
    /// extents of its arguments by names such as `E512`; none of one whose files are not understood.
    Symbols(Vec<Symbols>),
    /// The answer to [`ReaderQuestion::Changed`], or in words why there is no such variant.
    Changed(Result<SampleVariant, String>),
    /// The answer to [`ReaderQuestion::Reading`] and [`ReaderQuestion::Varied`] in types of the crate that reads, which encodes and
    /// decodes them: the supervisor only hands them on.
    Whole(Vec<u8>),
}
