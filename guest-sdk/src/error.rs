//! Why a pass fails.

use crate::{EditError, LowerError};
use passhost_ir::kernel::KernelError;
use passhost_ir::{InferError, TextError};

/// Why a pass gives up on a whole graph. A node that is merely left alone is a [refusal](Rewriter::refuse) instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PassError {
    /// A change that the graph does not allow.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A kernel could not be built.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The host could not type an inserted op.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// Anything else, in the author's words.
    #[error("{0}")]
    Other(String),
}

impl From<KernelError> for PassError {
    fn from(error: KernelError) -> PassError {
        PassError::Edit(error.into())
    }
}

impl From<TextError> for PassError {
    fn from(error: TextError) -> PassError {
        PassError::Other(format!("a text is not understood: {error}"))
    }
}

impl From<String> for PassError {
    fn from(message: String) -> PassError {
        PassError::Other(message)
    }
}

impl From<&str> for PassError {
    fn from(message: &str) -> PassError {
        PassError::Other(message.to_owned())
    }
}
