//! Why a sample cannot be used.

use serde::{Deserialize, Serialize};

/// A place in a file of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{file}:{line}:{column}")]
pub struct SourceLocation {
    /// The file, as the user would find it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// Why a sample cannot be used. It is the sample's fault, or the path is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SampleError {
    /// The path is not there or not readable.
    #[error("cannot open `{path}`: {reason}")]
    Open {
        /// As given.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The directory, or what is packed in a file, is no sample.
    #[error(
        "`{0}` is no sample: it has neither a graph_list.txt (a task) nor a model.py (a graph); give a sample or a list of samples"
    )]
    NoSample(String),
    /// A file of the sample cannot be read: missing, a link out of the directory, not text.
    #[error("cannot read `{file}`: {reason}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A file is larger than any real one.
    #[error("`{file}` has more than the {limit} bytes that are read")]
    TooLarge {
        /// The file.
        file: String,
        /// Limit in bytes.
        limit: u64,
    },
    /// A list with nothing in it, or with far too much.
    #[error("`{file}` names {found} entries; between 1 and {limit} are read")]
    Count {
        /// The file.
        file: String,
        /// How many.
        found: usize,
        /// At most.
        limit: usize,
    },
    /// Text that is no Python, Python outside the straight-line subset, or a packed sample that is malformed.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: SourceLocation,
        /// What is wrong.
        message: String,
    },
    /// A call that has no translation.
    #[error("{place}: `{call}` is not supported: {reason}")]
    Call {
        /// Where.
        place: SourceLocation,
        /// The call with the kinds of its arguments.
        call: String,
        /// Why.
        reason: String,
    },
    /// The weights do not fit the program, or a weight is not possible.
    #[error("{file}: weight `{name}`: {reason}")]
    Weight {
        /// The file.
        file: String,
        /// The weight.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The program contradicts itself: a bug of the reader, found before anything runs.
    #[error("{file}: {reason}; please report this sample")]
    Program {
        /// The file.
        file: String,
        /// What the verifier says.
        reason: String,
    },
}
